import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.NameValidator;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;

/** Avro's own parser and its rules of resolution. */
public final class Avro {
    private Avro() {}

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
