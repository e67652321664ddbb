import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/** Schemas and values of Connect as JSON: a value is null or [type, text]; notation.py has Python's side. */
final class Notation {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private Notation() {}

    static Schema schema(JsonNode node) {
        if (node == null || node.isNull()) return null;
        Schema.Type type = Schema.Type.valueOf(node.get("type").asText().toUpperCase());
        SchemaBuilder builder;
        switch (type) {
            case ARRAY: builder = SchemaBuilder.array(schema(node.get("values"))); break;
            case MAP: builder = SchemaBuilder.map(schema(node.get("keys")), schema(node.get("values"))); break;
            default: builder = SchemaBuilder.type(type);
        }
        if (type == Schema.Type.STRUCT)
            for (JsonNode field : node.get("fields")) builder.field(field.get(0).asText(), schema(field.get(1)));
        if (node.path("optional").asBoolean()) builder.optional();
        if (node.hasNonNull("name")) builder.name(node.get("name").asText());
        if (node.hasNonNull("version")) builder.version(node.get("version").asInt());
        if (node.hasNonNull("doc")) builder.doc(node.get("doc").asText());
        if (node.has("parameters"))
            node.get("parameters").fields().forEachRemaining(pair -> builder.parameter(pair.getKey(), pair.getValue().asText()));
        if (node.hasNonNull("default")) builder.defaultValue(value(builder, node.get("default")));
        return builder.build();
    }

    static JsonNode json(Schema schema) {
        if (schema == null) return JSON.nullNode();
        ObjectNode node = JSON.objectNode();
        node.put("type", schema.type().getName());
        if (schema.isOptional()) node.put("optional", true);
        if (schema.name() != null) node.put("name", schema.name());
        if (schema.version() != null) node.put("version", schema.version());
        if (schema.doc() != null) node.put("doc", schema.doc());
        if (schema.parameters() != null && !schema.parameters().isEmpty()) {
            ObjectNode parameters = node.putObject("parameters");
            schema.parameters().forEach(parameters::put);
        }
        if (schema.defaultValue() != null) node.set("default", json(schema.defaultValue()));
        if (schema.type() == Schema.Type.STRUCT) {
            ArrayNode fields = node.putArray("fields");
            for (Field field : schema.fields()) fields.addArray().add(field.name()).add(json(field.schema()));
        }
        if (schema.type() == Schema.Type.MAP) node.set("keys", json(schema.keySchema()));
        if (schema.type() == Schema.Type.MAP || schema.type() == Schema.Type.ARRAY) node.set("values", json(schema.valueSchema()));
        return node;
    }

    /** `schema` is needed for structs only. */
    static Object value(Schema schema, JsonNode node) {
        if (node == null || node.isNull()) return null;
        JsonNode item = node.get(1);
        switch (node.get(0).asText()) {
            case "boolean": return item.asBoolean();
            case "int8": return Byte.valueOf(item.asText());
            case "int16": return Short.valueOf(item.asText());
            case "int32": return Integer.valueOf(item.asText());
            case "int64": return Long.valueOf(item.asText());
            case "integer": return new BigInteger(item.asText());
            case "float32": return Float.valueOf(item.asText());
            case "float64": return Double.valueOf(item.asText());
            case "string": return item.asText();
            case "bytes": return Base64.getDecoder().decode(item.asText());
            case "decimal": return new BigDecimal(item.asText());
            case "date": return new Date(Long.parseLong(item.asText()));
            case "list": {
                List<Object> list = new ArrayList<>();
                for (JsonNode element : item) list.add(value(schema == null ? null : schema.valueSchema(), element));
                return list;
            }
            case "map": {
                Map<Object, Object> map = new LinkedHashMap<>();
                for (JsonNode pair : item)
                    map.put(value(schema == null ? null : schema.keySchema(), pair.get(0)),
                            value(schema == null ? null : schema.valueSchema(), pair.get(1)));
                return map;
            }
            case "struct": {
                Struct struct = new Struct(schema instanceof SchemaBuilder ? ((SchemaBuilder) schema).build() : schema);
                item.fields().forEachRemaining(pair ->
                    struct.put(pair.getKey(), value(struct.schema().field(pair.getKey()).schema(), pair.getValue())));
                return struct;
            }
            default: throw new IllegalArgumentException(node.toString());
        }
    }

    static JsonNode json(Object value) {
        if (value == null) return JSON.nullNode();
        if (value instanceof Boolean) return pair("boolean").add((Boolean) value);
        if (value instanceof Byte) return pair("int8").add(value.toString());
        if (value instanceof Short) return pair("int16").add(value.toString());
        if (value instanceof Integer) return pair("int32").add(value.toString());
        if (value instanceof Long) return pair("int64").add(value.toString());
        if (value instanceof BigInteger) return pair("integer").add(value.toString());
        if (value instanceof Float) return pair("float32").add(value.toString());
        if (value instanceof Double) return pair("float64").add(value.toString());
        if (value instanceof String) return pair("string").add((String) value);
        if (value instanceof byte[]) return pair("bytes").add(Base64.getEncoder().encodeToString((byte[]) value));
        if (value instanceof ByteBuffer) return json(org.apache.kafka.common.utils.Utils.toArray((ByteBuffer) value));
        if (value instanceof BigDecimal) return pair("decimal").add(value.toString());
        if (value instanceof Date) return pair("date").add(Long.toString(((Date) value).getTime()));
        if (value instanceof List) {
            ArrayNode items = JSON.arrayNode();
            for (Object element : (List<?>) value) items.add(json(element));
            return pair("list").add(items);
        }
        if (value instanceof Map) {
            ArrayNode items = JSON.arrayNode();
            ((Map<?, ?>) value).forEach((key, item) -> items.addArray().add(json(key)).add(json(item)));
            return pair("map").add(items);
        }
        if (value instanceof Struct) {
            ObjectNode members = JSON.objectNode();
            Struct struct = (Struct) value;
            for (Field field : struct.schema().fields()) members.set(field.name(), json(struct.getWithoutDefault(field.name())));
            return pair("struct").add(members);
        }
        return pair("other").add(value.getClass().getName());
    }

    private static ArrayNode pair(String type) {
        return JSON.arrayNode().add(type);
    }
}
