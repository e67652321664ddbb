import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.text.SimpleDateFormat;
import java.util.Base64;
import java.util.Calendar;
import java.util.Date;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** A case on each line of the input, its outcome on a line of the output; {"refused": where} for what is thrown. */
public final class Reference {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private static final class ConfigurationRefused extends RuntimeException {
        ConfigurationRefused(Throwable cause) { super(cause); }
    }

    public static void main(String[] arguments) throws Exception {
        MAPPER.getFactory().enable(JsonGenerator.Feature.ESCAPE_NON_ASCII);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(MAPPER.writeValueAsString(outcome(MAPPER.readTree(line))));
            if (!in.ready()) out.flush();
        }
        out.flush();
    }

    /** What no worker hands to a plugin: a value that does not fit its schema. The case counts for nothing. */
    static final class InvalidCase extends RuntimeException {
        InvalidCase(Throwable cause) { super(cause); }
    }

    private static ObjectNode outcome(JsonNode given) {
        ObjectNode made = MAPPER.createObjectNode();
        try {
            evaluate(given, made);
        } catch (ConfigurationRefused refused) {
            made.removeAll();
            made.put("refused", "configuration");
            if (given.has("explain")) made.put("why", String.valueOf(refused.getCause()));
        } catch (InvalidCase invalid) {
            made.removeAll();
            made.put("invalid", true);
        } catch (Throwable refused) {
            made.removeAll();
            made.put("refused", "value");
            if (given.has("explain")) made.put("why", String.valueOf(refused));
        }
        return made;
    }

    private static void evaluate(JsonNode given, ObjectNode made) throws Exception {
        if (given.has("record") ? !given.has("config") : given.has("class") && !given.has("config"))
            throw new InvalidCase(null);
        String text = given.path("text").asText();
        switch (given.get("op").asText()) {
            case "transform": transform(given, made); break;
            case "predicate": predicate(given, made); break;
            case "from_connect": fromConnect(given, made); break;
            case "to_connect": toConnect(given, made); break;
            case "regex": regex(given, text, made); break;
            case "format_date": made.put("text", dates(given).format(new Date(given.get("ms").asLong()))); break;
            case "parse_date": made.put("ms", parsed(dates(given), text)); break;
            case "double_text": made.put("text", Double.toString(Double.longBitsToDouble(given.get("bits").asLong()))); break;
            case "float_text": made.put("text", Float.toString(Float.intBitsToFloat(given.get("bits").asInt()))); break;
            case "parse_number": made.put("number", number(given.get("kind").asText(), text)); break;
            case "case": made.put("lower", text.toLowerCase(Locale.ROOT)).put("upper", text.toUpperCase(Locale.ROOT)); break;
            case "base64": made.put("bytes", hex(Base64.getDecoder().decode(text))); break;
            case "avro-text": case "avro-resolution": Avro.evaluate(given, made); break;
            case "log-written": case "log-opened": case "log-compacted": case "log-dumped": case "checkpoint": LogFiles.evaluate(given, made); break;
            case "json-schema": case "json-document": case "proto": Schemas.evaluate(given, made); break;
            case "principal":
                made.put("user", SslPrincipalMapper.fromRules(text).getName(given.get("name").asText()));
                break;
            case "properties": made.set("pairs", pairs(text)); break;
            case "tool": Tools.evaluate(given, made); break;
            case "config": made.set("value", config(given.get("kind").asText(), text)); break;
            default: throw new IllegalArgumentException(given.toString());
        }
    }

    static String hex(byte[] bytes) {
        return java.util.HexFormat.of().formatHex(bytes);
    }

    /** Blanks at the end of a value do not count: Kafka trims its settings. */
    private static ObjectNode pairs(String text) throws java.io.IOException {
        java.util.Properties properties = new java.util.Properties();
        properties.load(new java.io.StringReader(text));
        ObjectNode pairs = MAPPER.createObjectNode();
        properties.forEach((key, value) -> pairs.put((String) key, ((String) value).replaceAll("[ \\t\\f]+\\z", "")));
        return pairs;
    }

    private static JsonNode config(String kind, String text) {
        Object parsed = ConfigDef.parseType("key", text, ConfigDef.Type.valueOf(kind));
        return Notation.json(parsed);
    }

    private static SimpleDateFormat dates(JsonNode given) {
        try {
            SimpleDateFormat format = new SimpleDateFormat(given.get("pattern").asText());
            format.setTimeZone(TimeZone.getTimeZone("UTC"));
            if (given.has("now")) {
                Calendar century = Calendar.getInstance(TimeZone.getTimeZone("UTC"));
                century.setTimeInMillis(given.get("now").asLong());
                century.add(Calendar.YEAR, -80);
                format.set2DigitYearStart(century.getTime());
            }
            return format;
        } catch (RuntimeException refused) {
            throw new ConfigurationRefused(refused);
        }
    }

    private static long parsed(SimpleDateFormat format, String text) throws ParseException {
        return format.parse(text).getTime();
    }

    private static String number(String kind, String text) {
        switch (kind) {
            case "byte": return Byte.toString(Byte.parseByte(text));
            case "short": return Short.toString(Short.parseShort(text));
            case "int": return Integer.toString(Integer.parseInt(text));
            case "long": return Long.toString(Long.parseLong(text));
            case "double": return Double.toString(Double.parseDouble(text));
            case "float": return Float.toString(Float.parseFloat(text));
            case "decimal": return new BigDecimal(text).toString();
            case "boolean": return Boolean.toString(Boolean.parseBoolean(text));
            default: throw new IllegalArgumentException(kind);
        }
    }

    private static void regex(JsonNode given, String text, ObjectNode made) {
        Pattern pattern;
        try {
            pattern = Pattern.compile(given.get("pattern").asText());
        } catch (RuntimeException | StackOverflowError refused) {
            throw new ConfigurationRefused(refused);
        }
        Matcher matcher = pattern.matcher(text);
        made.set("matches", matcher.matches() ? groups(matcher) : null);
        matcher.reset();
        boolean found = matcher.find();
        made.set("find", found ? groups(matcher) : null);
        if (found) made.put("start", text.codePointCount(0, matcher.start()));
        if (given.has("replacement"))
            made.put("replaced", pattern.matcher(text).replaceFirst(given.get("replacement").asText()));
    }

    private static ArrayNode groups(Matcher matcher) {
        ArrayNode groups = MAPPER.createArrayNode();
        for (int index = 0; index <= matcher.groupCount(); index++) groups.add(matcher.group(index));
        return groups;
    }

    private static Map<String, String> properties(JsonNode given) {
        Map<String, String> properties = new HashMap<>();
        given.get("config").fields().forEachRemaining(pair -> properties.put(pair.getKey(), pair.getValue().asText()));
        return properties;
    }

    private static <T> T made(JsonNode given, Class<T> kind) throws Exception {
        return kind.cast(Class.forName(given.get("class").asText()).getDeclaredConstructor().newInstance());
    }

    private static <T extends Configurable> T configured(JsonNode given, Class<T> kind) throws Exception {
        T plugin = made(given, kind);
        try {
            Map<String, String> properties = properties(given);
            ConfigDef definition = plugin instanceof Transformation
                ? ((Transformation<?>) plugin).config() : ((Predicate<?>) plugin).config();
            definition.parse(properties);
            plugin.configure(properties);
        } catch (RuntimeException refused) {
            throw new ConfigurationRefused(refused);
        }
        return plugin;
    }

    @SuppressWarnings("unchecked")
    private static <R extends ConnectRecord<R>> void transform(JsonNode given, ObjectNode made) throws Exception {
        Transformation<R> transform = configured(given, Transformation.class);
        R record = (R) record(given.get("record"));
        R changed = transform.apply(record);
        made.set("record", changed == null ? null : json(changed));
    }

    @SuppressWarnings("unchecked")
    private static <R extends ConnectRecord<R>> void predicate(JsonNode given, ObjectNode made) throws Exception {
        Predicate<R> predicate = configured(given, Predicate.class);
        made.put("holds", predicate.test((R) record(given.get("record"))));
    }

    private static ConnectRecord<?> record(JsonNode given) {
        try {
            return validRecord(given);
        } catch (RuntimeException invalid) {
            throw new InvalidCase(invalid);
        }
    }

    private static Object valid(Schema schema, JsonNode given) {
        Object value = Notation.value(schema, given);
        if (schema == null) return value;
        ConnectSchema.validateValue(schema, value);
        if (schema.name() != null && value != null) {
            if (schema.name().equals(org.apache.kafka.connect.data.Date.LOGICAL_NAME))
                org.apache.kafka.connect.data.Date.fromLogical(schema, (Date) value);
            if (schema.name().equals(org.apache.kafka.connect.data.Time.LOGICAL_NAME))
                org.apache.kafka.connect.data.Time.fromLogical(schema, (Date) value);
        }
        if (value instanceof Struct)
            for (Field field : schema.fields())
                valid(field.schema(), given.get(1).get(field.name()));
        return value;
    }

    private static ConnectRecord<?> validRecord(JsonNode given) {
        Schema keys = Notation.schema(given.get("key_schema"));
        Schema values = Notation.schema(given.get("value_schema"));
        Object key = valid(keys, given.get("key"));
        Object value = valid(values, given.get("value"));
        String topic = given.get("topic").asText();
        Integer partition = given.hasNonNull("partition") ? given.get("partition").asInt() : null;
        Long timestamp = given.hasNonNull("timestamp") ? given.get("timestamp").asLong() : null;
        ConnectHeaders headers = new ConnectHeaders();
        for (JsonNode header : given.path("headers")) {
            Schema schema = Notation.schema(header.get(1));
            headers.add(header.get(0).asText(), Notation.value(schema, header.get(2)), schema);
        }
        if (given.hasNonNull("offset"))
            return new SinkRecord(topic, partition, keys, key, values, value, given.get("offset").asLong(), timestamp,
                TimestampType.CREATE_TIME, headers);
        return new SourceRecord(Map.of(), Map.of(), topic, partition, keys, key, values, value, timestamp, headers);
    }

    private static ObjectNode json(ConnectRecord<?> record) {
        ObjectNode node = MAPPER.createObjectNode();
        node.put("topic", record.topic()).put("partition", record.kafkaPartition()).put("timestamp", record.timestamp());
        node.set("key_schema", Notation.json(record.keySchema()));
        node.set("key", Notation.json(record.key()));
        node.set("value_schema", Notation.json(record.valueSchema()));
        node.set("value", Notation.json(record.value()));
        ArrayNode headers = node.putArray("headers");
        for (Header header : record.headers())
            headers.addArray().add(header.key()).add(Notation.json(header.schema())).add(Notation.json(header.value()));
        return node;
    }

    private static Object converter(JsonNode given, boolean isHeader) throws Exception {
        Object converter = isHeader ? made(given, HeaderConverter.class) : made(given, Converter.class);
        try {
            if (isHeader) {
                Map<String, String> properties = properties(given);
                properties.put("converter.type", "header");
                ((HeaderConverter) converter).configure(properties);
            } else {
                ((Converter) converter).configure(properties(given), given.path("is_key").asBoolean());
            }
        } catch (RuntimeException refused) {
            throw new ConfigurationRefused(refused);
        }
        return converter;
    }

    private static void fromConnect(JsonNode given, ObjectNode made) throws Exception {
        boolean isHeader = given.path("is_header").asBoolean();
        Object converter = converter(given, isHeader);
        Schema schema = Notation.schema(given.get("schema"));
        Object value;
        try {
            value = valid(schema, given.get("value"));
        } catch (RuntimeException invalid) {
            throw new InvalidCase(invalid);
        }
        byte[] bytes = isHeader ? ((HeaderConverter) converter).fromConnectHeader("t", "h", schema, value)
            : ((Converter) converter).fromConnectData("t", schema, value);
        made.put("bytes", bytes == null ? null : hex(bytes));
    }

    private static void toConnect(JsonNode given, ObjectNode made) throws Exception {
        boolean isHeader = given.path("is_header").asBoolean();
        Object converter = converter(given, isHeader);
        byte[] bytes = given.hasNonNull("text") ? given.get("text").asText().getBytes(StandardCharsets.UTF_8)
            : given.hasNonNull("bytes") ? Base64.getDecoder().decode(given.get("bytes").asText()) : null;
        SchemaAndValue read = isHeader ? ((HeaderConverter) converter).toConnectHeader("t", "h", bytes)
            : ((Converter) converter).toConnectData("t", bytes);
        if (read == null) read = SchemaAndValue.NULL;
        made.set("schema", Notation.json(read.schema()));
        made.set("value", Notation.json(read.value()));
    }
}
