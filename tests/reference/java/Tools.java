import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.internals.Exit;
import org.slf4j.LoggerFactory;

/** Runs command-line tools of Kafka within this process; what they print and their exit status is the outcome. */
final class Tools {
    private Tools() { }

    private static final class Ended extends Error {
        Ended() { super("ended", null, false, false); }
    }

    /** What a tool had printed when it first asked for its end: what it catches and prints afterwards is ours. */
    private static final class Run {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final ByteArrayOutputStream err = new ByteArrayOutputStream();
        Integer status;
        String printed;
        String complained;

        void end(int code) {
            if (status != null) return;
            status = code;
            printed = out.toString(StandardCharsets.UTF_8);
            complained = err.toString(StandardCharsets.UTF_8);
        }
    }

    static void evaluate(JsonNode given, ObjectNode made) throws Exception {
        LoggerFactory.getLogger(Tools.class);
        List<String> words = new ArrayList<>();
        given.get("words").forEach(word -> words.add(word.asText()));
        Run run = new Run();
        PrintStream out = System.out;
        PrintStream err = System.err;
        System.setOut(new PrintStream(run.out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(run.err, true, StandardCharsets.UTF_8));
        Exit.setExitProcedure((code, message) -> { run.end(code); throw new Ended(); });
        Exit.setHaltProcedure((code, message) -> { run.end(code); throw new Ended(); });
        try {
            Class.forName(given.get("tool").asText()).getMethod("main", String[].class)
                .invoke(null, (Object) words.toArray(new String[0]));
        } catch (InvocationTargetException thrown) {
            if (run.status == null && !(thrown.getCause() instanceof Ended)) {
                System.err.println("Exception in thread \"main\" " + thrown.getCause());
                run.end(1);
            }
        } finally {
            run.end(0);
            Exit.resetExitProcedure();
            Exit.resetHaltProcedure();
            System.setOut(out);
            System.setErr(err);
        }
        made.put("status", run.status).put("out", run.printed).put("err", run.complained);
    }
}
