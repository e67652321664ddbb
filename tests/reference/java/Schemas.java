import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.squareup.wire.schema.CoreLoader;
import com.squareup.wire.schema.ErrorCollector;
import com.squareup.wire.schema.Linker;
import com.squareup.wire.schema.Location;
import com.squareup.wire.schema.ProtoFile;
import com.squareup.wire.schema.internal.parser.ProtoParser;
import java.util.ArrayList;
import java.util.List;
import org.everit.json.schema.ValidationException;
import org.everit.json.schema.loader.SchemaLoader;
import org.json.JSONObject;
import org.json.JSONTokener;

/** JSON Schema by the loader that Confluent's registry has and by a validator of all drafts; Protobuf by Wire. */
final class Schemas {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Schemas() {}

    static void evaluate(JsonNode given, ObjectNode made) throws Exception {
        String text = given.get("text").asText();
        switch (given.get("op").asText()) {
            case "json-schema": loaded(text); made.put("accepted", true); break;
            case "json-document": made.put("fits", fits(text, given.get("document").asText(), given.path("draft").asInt(7))); break;
            case "proto": linked(given, text); made.put("accepted", true); break;
            default: throw new IllegalArgumentException(given.get("op").asText());
        }
    }

    private static org.everit.json.schema.Schema loaded(String text) {
        return SchemaLoader.builder().useDefaults(true).draftV7Support().schemaJson(new JSONObject(text)).build().load().build();
    }

    /** Refused where the two validators of the older drafts do not agree. */
    private static boolean fits(String text, String document, int draft) throws Exception {
        SpecVersion.VersionFlag version = draft == 4 ? SpecVersion.VersionFlag.V4 : draft == 6 ? SpecVersion.VersionFlag.V6
            : draft == 7 ? SpecVersion.VersionFlag.V7 : draft == 2019 ? SpecVersion.VersionFlag.V201909 : SpecVersion.VersionFlag.V202012;
        boolean fits = JsonSchemaFactory.getInstance(version).getSchema(MAPPER.readTree(text))
            .validate(MAPPER.readTree(document)).isEmpty();
        if (draft <= 7 && fits != fitsLoaded(text, document)) throw new Reference.InvalidCase(null);
        return fits;
    }

    private static boolean fitsLoaded(String text, String document) {
        try {
            loaded(text).validate(new JSONTokener(document).nextValue());
            return true;
        } catch (ValidationException misfit) {
            return false;
        }
    }

    private static void linked(JsonNode given, String text) {
        List<ProtoFile> files = new ArrayList<>();
        files.add(parsed("case.proto", text));
        given.path("files").fields().forEachRemaining(file -> files.add(parsed(file.getKey(), file.getValue().asText())));
        new Linker(CoreLoader.INSTANCE, new ErrorCollector(), true, true).link(files);
    }

    private static ProtoFile parsed(String path, String text) {
        return ProtoFile.Companion.get(ProtoParser.Companion.parse(Location.get("", path), text));
    }
}
