package dev.ashlar.gateway.encryption.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.util.JSONObjectUtils;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.text.ParseException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A transit engine as far as Vault's API documents it, which can be made to misbehave. */
final class FakeVault implements AutoCloseable {
  static final String TOKEN = "hvs.secret-token";

  /** What it answers instead of what it should. */
  interface Fault {
    void answer(HttpExchange exchange) throws IOException;
  }

  private record Sealed(String key, String plaintext, String bound) {}

  private final Set<String> keys;
  private final Map<String, Sealed> sealed = new ConcurrentHashMap<>();
  private final AtomicInteger calls = new AtomicInteger();
  private final CountDownLatch closing = new CountDownLatch(1);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpServer server;
  private final AtomicInteger version = new AtomicInteger(1);
  private volatile @Nullable Fault fault;
  private volatile Set<String> denied = Set.of();

  FakeVault(String... keys) throws IOException {
    this.keys = Set.of(keys);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::serve);
    server.start();
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  int calls() {
    return calls.get();
  }

  /**
   * @param now null: none
   */
  void fail(@Nullable Fault now) {
    fault = now;
  }

  /** The policy of the token permits nothing with these keys from now on. */
  void deny(String... keysOfOthers) {
    denied = Set.of(keysOfOthers);
  }

  /** The keys have a new version from now on. */
  void rotate() {
    version.incrementAndGet();
  }

  /** Does not answer until this is closed. */
  void hang(HttpExchange exchange) {
    try {
      closing.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve(HttpExchange exchange) throws IOException {
    calls.incrementAndGet();
    Fault now = fault;
    if (now != null) {
      now.answer(exchange);
      return;
    }
    Map<String, Object> call;
    try {
      call = JSONObjectUtils.parse(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
    } catch (ParseException e) {
      answer(exchange, 400, "{\"errors\":[\"no JSON\"]}");
      return;
    }
    if (!TOKEN.equals(exchange.getRequestHeaders().getFirst("X-Vault-Token"))) {
      answer(exchange, 403, "{\"errors\":[\"permission denied\"]}");
      return;
    }
    if (exchange.getRequestURI().getPath().equals("/v1/sys/capabilities-self")) {
      answer(exchange, 200, "{\"capabilities\":[\"deny\"],\"data\":{\"transit\":[\"deny\"]}}");
      return;
    }
    String[] path = exchange.getRequestURI().getPath().split("/", -1);
    if (path.length != 5 || !path[1].equals("v1") || !path[2].equals("transit")) {
      answer(exchange, 404, "{\"errors\":[]}");
      return;
    }
    if (denied.contains(path[4])) {
      answer(exchange, 403, "{\"errors\":[\"1 error occurred:\\n\\t* permission denied\\n\\n\"]}");
      return;
    }
    if (!keys.contains(path[4])) {
      answer(exchange, 400, "{\"errors\":[\"encryption key not found\"]}");
      return;
    }
    String bound = String.valueOf(call.get("associated_data"));
    if (path[3].equals("encrypt")) {
      String text = "vault:v" + version.get() + ":" + sealed.size();
      sealed.put(text, new Sealed(path[4], String.valueOf(call.get("plaintext")), bound));
      answer(exchange, 200, "{\"request_id\":\"x\",\"data\":{\"ciphertext\":\"" + text + "\"}}");
    } else {
      Sealed of = sealed.get(String.valueOf(call.get("ciphertext")));
      if (of != null && of.key.equals(path[4]) && of.bound.equals(bound)) {
        answer(
            exchange, 200, "{\"data\":{\"plaintext\":\"" + of.plaintext + "\"},\"warnings\":null}");
      } else {
        answer(exchange, 400, "{\"errors\":[\"message authentication failed\"]}");
      }
    }
  }

  static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] body = text.getBytes(UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  @Override
  public void close() {
    closing.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
