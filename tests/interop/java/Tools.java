import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs Kafka's tools one after the other in this process, and prints one line of JSON for each: what it wrote, its exit
 * status, or that it was given up. A line of the input is a JSON array: seconds, input, class, arguments.
 */
public class Tools {
    /** Thrown where a tool would end the process; tools that catch everything go on and may end once more. */
    private static final class Ended extends Error {
        Ended() {
            super(null, null, false, false);
        }
    }

    private static volatile Integer status;
    private static volatile String output;
    private static volatile ByteArrayOutputStream written;
    private static final List<Runnable> hooks = new ArrayList<>();

    private static void end(int endStatus) {
        List<Runnable> dueHooks = new ArrayList<>(hooks);
        hooks.clear();
        dueHooks.forEach(Runnable::run);
        if (status == null) {
            output = written.toString(StandardCharsets.UTF_8);
            status = endStatus;
        }
    }

    public static void main(String[] nothing) throws Exception {
        PrintStream results = System.out;
        Exit.Procedure procedure = (status, message) -> {
            end(status);
            throw new Ended();
        };
        Exit.setExitProcedure(procedure);
        Exit.setHaltProcedure(procedure);
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        ObjectMapper json = new ObjectMapper();
        List<List<String>> commands = new ArrayList<>();
        try (Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8)) {
            while (lines.hasNextLine())
                commands.add(json.readValue(lines.nextLine(), json.getTypeFactory().constructCollectionType(List.class, String.class)));
        }
        for (List<String> command : commands) {
            status = null;
            written = new ByteArrayOutputStream();
            System.setIn(new ByteArrayInputStream(command.get(1).getBytes(StandardCharsets.UTF_8)));
            System.setOut(new PrintStream(written, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
            Thread tool = new Thread(() -> end(run(command.get(2), command.subList(3, command.size()))));
            tool.setDaemon(true);
            tool.start();
            tool.join(1000L * Long.parseLong(command.get(0)));
            ObjectNode result = json.createObjectNode();
            result.put("ended", status != null);
            end(-1);
            tool.interrupt();
            System.setOut(new PrintStream(OutputStream.nullOutputStream()));
            System.setErr(System.out);
            result.put("status", status);
            result.put("output", output);
            results.println(json.writeValueAsString(result));
        }
        results.flush();
        Runtime.getRuntime().halt(0);
    }

    private static int run(String name, List<String> arguments) {
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) arguments.toArray(new String[0]));
            return 0;
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof Ended)
                return 1;
            thrown.getCause().printStackTrace();
            return 1;
        } catch (ReflectiveOperationException error) {
            error.printStackTrace();
            return 1;
        }
    }
}
