package dev.ashlar.server.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WebhookTargetTest {
  private final List<String> got = new CopyOnWriteArrayList<>();
  private final CountDownLatch end = new CountDownLatch(1);
  private final HttpServer server = server();
  private final WebhookTarget target = target("/events");

  private HttpServer server() {
    try {
      HttpServer made =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      made.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      made.createContext("/", this::serve);
      made.start();
      return made;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Answers the status that the path names, and otherwise 204. */
  private void serve(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    if (path.equals("/hang")) {
      try {
        end.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    got.add(
        exchange.getRequestMethod()
            + " "
            + exchange.getRequestHeaders().getFirst("Authorization")
            + " "
            + exchange.getRequestHeaders().getFirst("Content-Type")
            + " "
            + body);
    int status = path.matches("/[0-9]+") ? Integer.parseInt(path.substring(1)) : 204;
    exchange.getResponseHeaders().set("Location", "/events");
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }

  private WebhookTarget target(String path) {
    String url = "http://127.0.0.1:" + server.getAddress().getPort() + path;
    try {
      return WebhookTarget.of(
          "arn",
          new TargetFields(
              new ObjectMapper().createObjectNode().put("url", url).put("token", "hunter2"),
              Path.of(".")));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterEach
  void close() {
    end.countDown();
    target.close();
    server.stop(0);
  }

  @Test
  void aMessageIsPosted() throws Exception {
    Sends.succeeds(target);
    assertEquals(List.of("POST Bearer hunter2 application/json " + Sends.JSON), got);
  }

  @Test
  void onlySuccessAcknowledges() throws Exception {
    for (int status : new int[] {200, 201, 202, 299}) {
      try (WebhookTarget other = target("/" + status)) {
        Sends.succeeds(other);
      }
    }
    for (int status : new int[] {301, 307, 400, 401, 404, 429, 500, 503}) {
      try (WebhookTarget other = target("/" + status)) {
        String why = Sends.fails(other);
        assertTrue(why.contains("status " + status), why);
      }
    }
    assertEquals(12, got.size(), "redirections are not followed");
  }

  @Test
  void nobodyThere() {
    server.stop(0);
    String why = Sends.fails(target);
    assertTrue(why.contains("Connect"), why);
    assertFalse(why.contains("hunter2"), why);
  }

  @Test
  void whatHangsCanBeGivenUp() throws Exception {
    try (WebhookTarget hanging = target("/hang")) {
      CompletableFuture<Void> sent = hanging.send(Sends.message());
      assertTrue(sent.cancel(true));
      Sends.succeeds(target);
    }
  }
}
