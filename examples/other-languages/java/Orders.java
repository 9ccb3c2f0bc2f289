import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * The core routes of examples/orders on com.sun.net.httpserver: GET /work, POST /orders, GET /ready. Orders go into a file. Java 17:
 * java Orders.java. DRAIN_DELAY=2.5s keeps serving after SIGTERM; without it the listener closes at once, and what is in flight is finished.
 */
class Orders {
  static volatile boolean stopping = false;
  static final AtomicInteger inFlight = new AtomicInteger();

  static double number(String text, String name) {
    var found = Pattern.compile("\"?" + name + "\"?[=:] ?([0-9.]+)").matcher(text == null ? "" : text);
    return found.find() ? Double.parseDouble(found.group(1)) : 0.3;
  }

  static void answer(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("content-type", "application/json");
    if (stopping) {
      exchange.getResponseHeaders().set("connection", "close");
    }
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  static synchronized void store(String id) throws IOException {
    Files.writeString(Path.of(System.getenv("EXECUTED")), id + "\n",
        StandardOpenOption.CREATE, StandardOpenOption.APPEND, StandardOpenOption.SYNC);
  }

  interface Work {
    void on(HttpExchange exchange) throws Exception;
  }

  static void route(HttpServer server, String path, Work work) {
    server.createContext(path, exchange -> {
      inFlight.incrementAndGet();
      try {
        work.on(exchange);
      } catch (Exception error) {
        exchange.close();
      } finally {
        inFlight.decrementAndGet();
      }
    });
  }

  /** `2.5`, `2.5s`, `500ms`. */
  static double secondsOf(String text) {
    return text.endsWith("ms")
        ? Double.parseDouble(text.replace("ms", "")) / 1000
        : Double.parseDouble(text.replace("s", ""));
  }

  static void sleep(double seconds) {
    try {
      Thread.sleep((long) (seconds * 1000));
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  public static void main(String[] args) throws IOException {
    long pid = ProcessHandle.current().pid();
    int port = Integer.parseInt(System.getenv("PORT"));
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 128);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/ready", exchange -> answer(exchange, stopping ? 503 : 200, "{}"));
    route(server, "/work", exchange -> {
      sleep(number(exchange.getRequestURI().getQuery(), "seconds"));
      answer(exchange, 200, "{\"pid\":" + pid + "}");
    });
    route(server, "/orders", exchange -> {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      var id = Pattern.compile("\"id\": ?\"([^\"]+)\"").matcher(body);
      if (!id.find()) {
        answer(exchange, 400, "{\"error\":\"no order\"}");
        return;
      }
      sleep(number(body, "work"));
      store(id.group(1));
      answer(exchange, 201, "{\"id\":\"" + id.group(1) + "\",\"pid\":" + pid + "}");
    });
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      stopping = true;
      String delay = System.getenv("DRAIN_DELAY");
      sleep(delay == null ? 0 : secondsOf(delay));
      // Closes the listener at once, and waits for what is in flight; with nothing in flight it would wait the whole time.
      server.stop(inFlight.get() == 0 ? 0 : 5);
    }));
    server.start();
  }
}
