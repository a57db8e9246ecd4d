package dev.ashlar.it.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A webhook that keeps what it gets. While it is told to, half of the requests fail: half of these
 * are not looked at, and of the others only the answer is lost.
 */
final class EventReceiver implements AutoCloseable {
  static final String TOKEN = "Bearer integration-token";
  private static final JsonMapper JSON = new JsonMapper();

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, List<String>> sequencers = new HashMap<>();
  private final Map<String, Integer> tests = new HashMap<>();
  private final List<String> names = new ArrayList<>();
  private final Random random;
  private final HttpServer server;
  private boolean isFailing;
  private boolean isOriginKnown = true;
  private long repeated;
  private long failed;

  EventReceiver(long seed) throws IOException {
    this.random = new Random(seed);
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::serve);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/events";
  }

  private void serve(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    boolean isKnown = TOKEN.equals(exchange.getRequestHeaders().getFirst("Authorization"));
    exchange.sendResponseHeaders(isKnown && take(JSON.readTree(body)) ? 204 : 503, -1);
    exchange.close();
  }

  private boolean take(JsonNode message) {
    lock.lock();
    try {
      boolean isFailure = isFailing && random.nextBoolean();
      failed += isFailure ? 1 : 0;
      if (isFailure && random.nextBoolean()) {
        return false;
      }
      if (message.path("Event").asText().equals("s3:TestEvent")) {
        tests.merge(message.path("Bucket").asText(), 1, Integer::sum);
      }
      for (JsonNode record : message.path("Records")) {
        JsonNode object = record.path("s3").path("object");
        String bucket = record.path("s3").path("bucket").path("name").asText();
        List<String> ofKey =
            sequencers.computeIfAbsent(
                bucket + "/" + object.path("key").asText(), key -> new ArrayList<>());
        String sequencer = object.path("sequencer").asText();
        if (ofKey.contains(sequencer)) {
          repeated++;
        } else {
          ofKey.add(sequencer);
          names.add(record.path("eventName").asText() + " " + object.path("key").asText());
          isOriginKnown &=
              record.path("requestParameters").path("sourceIPAddress").asText().equals("127.0.0.1")
                  && record.path("userIdentity").path("principalId").asText().startsWith("AWS:");
        }
      }
      return !isFailure;
    } finally {
      lock.unlock();
    }
  }

  void fail(boolean isWanted) {
    lock.lock();
    try {
      isFailing = isWanted;
    } finally {
      lock.unlock();
    }
  }

  /** The sequencers of each key, in the order in which they arrived first. */
  Map<String, List<String>> sequencers() {
    lock.lock();
    try {
      Map<String, List<String>> copy = new HashMap<>();
      sequencers.forEach((key, all) -> copy.put(key, List.copyOf(all)));
      return copy;
    } finally {
      lock.unlock();
    }
  }

  /** Names and keys in the order in which they arrived first. */
  List<String> names() {
    lock.lock();
    try {
      return List.copyOf(names);
    } finally {
      lock.unlock();
    }
  }

  /** How many test events of a bucket have arrived. */
  int tests(String bucket) {
    lock.lock();
    try {
      return tests.getOrDefault(bucket, 0);
    } finally {
      lock.unlock();
    }
  }

  /** Whether each event has told who has asked for the change. */
  boolean isOriginKnown() {
    lock.lock();
    try {
      return isOriginKnown;
    } finally {
      lock.unlock();
    }
  }

  String report() {
    lock.lock();
    try {
      return names.size() + " events, " + repeated + " repeated, " + failed + " failed attempts";
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
