import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.NameValidator;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;

/** Avro's own parser and its rules of resolution: a case on each line of the input, its outcome on one of the output. */
public final class Avro {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Avro() {}

    public static void main(String[] arguments) throws Exception {
        MAPPER.getFactory().enable(JsonGenerator.Feature.ESCAPE_NON_ASCII);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode made = MAPPER.createObjectNode();
            JsonNode given = MAPPER.readTree(line);
            try {
                evaluate(given, made);
            } catch (Throwable refused) {
                made.removeAll();
                made.put("refused", "schema");
                if (given.has("explain")) made.put("why", String.valueOf(refused));
            }
            out.println(MAPPER.writeValueAsString(made));
            if (!in.ready()) out.flush();
        }
        out.flush();
    }

    static void evaluate(JsonNode given, ObjectNode made) {
        switch (given.get("op").asText()) {
            case "avro-text":
                made.put("text", parsed(given.get("text").asText()).toString());
                return;
            case "avro-resolution":
                resolution(parsed(given.get("reader").asText()), parsed(given.get("writer").asText()), made);
                return;
            default:
                throw new IllegalArgumentException(given.get("op").asText());
        }
    }

    /** As Confluent's registry parses what is new. */
    private static Schema parsed(String text) {
        Schema.Parser parser = new Schema.Parser(NameValidator.STRICT_VALIDATOR);
        parser.setValidateDefaults(true);
        return parser.parse(text);
    }

    private static void resolution(Schema reader, Schema writer, ObjectNode made) {
        SchemaCompatibility.SchemaCompatibilityResult result;
        try {
            result = SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult();
        } catch (AvroRuntimeException unclear) {
            made.put("compatible", false);
            made.putArray("kinds").add("AMBIGUOUS");
            return;
        }
        made.put("compatible", result.getIncompatibilities().isEmpty());
        ArrayNode kinds = made.putArray("kinds");
        result.getIncompatibilities().stream().map(found -> found.getType() + " " + found.getLocation()).sorted()
            .distinct().forEach(kinds::add);
    }
}
