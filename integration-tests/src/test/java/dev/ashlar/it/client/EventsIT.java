package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Commands;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import io.nats.client.Connection;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.api.StreamConfiguration;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.QueueConfiguration;

/** A webhook gets the events of buckets, though it fails and the server is killed. */
class EventsIT {
  private static final String ARN = "arn:ashlar:sqs::hook:webhook";
  private static final long SEED = Seeds.seed("EventsIT");
  private static final int CLIENTS = 16;
  private static final int KEYS = 40;
  private static final Duration DOWN = Duration.ofMillis(100);

  @TempDir Path folder;

  private ServerProcess start(String name, EventReceiver receiver) throws Exception {
    Path targets = folder.resolve("targets.json");
    Files.writeString(
        targets,
        """
        [{"name": "hook", "type": "webhook", "url": "%s", "token": "%s"}]"""
            .formatted(receiver.url(), EventReceiver.TOKEN.substring("Bearer ".length())));
    return ServerProcess.start(ServerSpec.named(name).withOptions("--event-targets=" + targets));
  }

  @Test
  void everyChangeIsToldThoughTheServerIsKilled() throws Exception {
    try (EventReceiver receiver = new EventReceiver(SEED);
        ServerProcess server = start("events", receiver)) {
      Python.withClients().run("events_test.py", server, ARN);
      assertEquals(2, receiver.tests("events")); // of boto3 and the AWS CLI
      List<String> expected =
          List.of(
              "ObjectCreated:Put in/put.txt",
              "ObjectCreated:Copy in/copy+of+it.txt",
              "ObjectCreated:CompleteMultipartUpload in/parts.txt",
              "ObjectCreated:Post in/form.txt",
              "ObjectCreated:Put in/put.txt", // an append
              "ObjectTagging:Put in/put.txt",
              "ObjectTagging:Delete in/put.txt",
              "ObjectAcl:Put in/put.txt",
              "ObjectRemoved:Delete in/copy+of+it.txt",
              "ObjectRemoved:DeleteMarkerCreated in/put.txt",
              "ObjectRemoved:Delete in/put.txt");
      Await.until("all events", () -> receiver.names().size() >= expected.size());
      assertEquals(sorted(expected), sorted(receiver.names()));
      assertTrue(receiver.isOriginKnown());
      receiver.fail(true);
      changeUnderKills(server, receiver, 400, 2);
    }
  }

  private static List<String> sorted(List<String> names) {
    return names.stream().sorted().toList();
  }

  /** A real stream of JetStream, where a server of NATS is installed. */
  @Test
  void natsKeepsTheEvents() throws Exception {
    assumeTrue(Commands.isInstalled("nats-server"), "nats-server is not installed");
    int port = ServerProcess.freePort();
    Process nats =
        new ProcessBuilder(
                "nats-server", "-js", "-sd", folder + "/nats", "-a", "127.0.0.1", "-p", "" + port)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("nats.log").toFile())
            .start();
    try {
      String url = "nats://127.0.0.1:" + port;
      Await.until("NATS", () -> Files.readString(folder.resolve("nats.log")).contains("is ready"));
      Path targets = folder.resolve("targets.json");
      Files.writeString(
          targets,
          """
          [{"name": "bus", "type": "nats", "url": "%s", "subject": "s3.events"}]"""
              .formatted(url));
      Connection connection = Nats.connect(url); // ends with the server
      try (ServerProcess server =
              ServerProcess.start(
                  ServerSpec.named("events-nats").withOptions("--event-targets=" + targets));
          S3Client s3 = Clients.sync(server)) {
        connection
            .jetStreamManagement()
            .addStream(StreamConfiguration.builder().name("S3").subjects("s3.>").build());
        s3.createBucket(r -> r.bucket("bkt"));
        s3.putBucketNotificationConfiguration(
            r ->
                r.bucket("bkt")
                    .notificationConfiguration(
                        c -> c.queueConfigurations(rule("arn:ashlar:sqs::bus:nats"))));
        s3.putObject(r -> r.bucket("bkt").key("k"), RequestBody.fromString("x"));
        JetStreamSubscription got = connection.jetStream().subscribe("s3.events");
        assertTrue(text(got.nextMessage(Duration.ofMinutes(1))).contains("s3:TestEvent"));
        assertTrue(text(got.nextMessage(Duration.ofMinutes(1))).contains("\"key\":\"k\""));
      }
    } finally {
      nats.destroy();
    }
  }

  private static String text(Message message) {
    return new String(message.getData(), StandardCharsets.UTF_8);
  }

  private static QueueConfiguration rule(String arn) {
    return QueueConfiguration.builder()
        .queueArn(arn)
        .eventsWithStrings("s3:ObjectCreated:*")
        .build();
  }

  /** The same as above, with many changes. */
  @LongTest
  void aHundredThousandChangesAndTenKills() throws Exception {
    try (EventReceiver receiver = new EventReceiver(SEED);
        ServerProcess server = start("events-long", receiver)) {
      receiver.fail(true);
      changeUnderKills(server, receiver, 100_000, 10);
    }
  }

  /** A client of keys that only it writes, so that it knows what happened to them. */
  private static final class Writer {
    private final S3Client s3;
    private final String bucket;
    private final int number;
    private final Random random;
    final Map<String, Integer> certain = new HashMap<>();
    final Map<String, Integer> possible = new HashMap<>();

    Writer(S3Client s3, String bucket, int number) {
      this.s3 = s3;
      this.bucket = bucket;
      this.number = number;
      this.random = new Random(SEED + number);
    }

    /** Whether it has succeeded. */
    boolean change() {
      String key = "in/" + number + "-" + random.nextInt(KEYS);
      String path = bucket + "/" + key;
      possible.merge(path, 1, Integer::sum);
      try {
        s3.putObject(r -> r.bucket(bucket).key(key), RequestBody.fromString("x"));
        certain.merge(path, 1, Integer::sum);
        return true;
      } catch (SdkException e) {
        return false; // the server was killed; what it was doing may have been done
      }
    }
  }

  private static void changeUnderKills(
      ServerProcess server, EventReceiver receiver, int changes, int kills) throws Exception {
    String bucket = "kills";
    List<Writer> writers = new ArrayList<>();
    AtomicInteger left = new AtomicInteger(changes);
    try (S3Client s3 = Clients.sync(server)) {
      s3.createBucket(r -> r.bucket(bucket));
      s3.putBucketNotificationConfiguration(
          r ->
              r.bucket(bucket)
                  .skipDestinationValidation(true)
                  .notificationConfiguration(c -> c.queueConfigurations(rule(ARN))));
      List<Future<?>> running = new ArrayList<>();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < CLIENTS; i++) {
          Writer writer = new Writer(s3, bucket, i);
          writers.add(writer);
          running.add(
              threads.submit(
                  () -> {
                    while (left.get() > 0) {
                      if (writer.change()) {
                        left.decrementAndGet();
                      } else {
                        ServerProcess.pause(DOWN);
                      }
                    }
                  }));
        }
        for (int kill = 1; kill <= kills; kill++) {
          int until = changes - changes * kill / (kills + 1);
          Await.until("changes", Duration.ofMinutes(30), () -> left.get() <= until);
          server.kill();
          server.start();
        }
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    Await.until(
        "nothing waits",
        Duration.ofMinutes(30),
        () -> server.adminPage("events").contains("\"waiting\":0"));
    check(receiver, writers);
    System.out.println("seed " + SEED + ": " + kills + " kills, " + receiver.report());
  }

  private static void check(EventReceiver receiver, List<Writer> writers) {
    Map<String, List<String>> got = receiver.sequencers();
    for (Writer writer : writers) {
      writer.possible.forEach(
          (key, possible) -> {
            List<String> sequencers = got.getOrDefault(key, List.of());
            int certain = writer.certain.getOrDefault(key, 0);
            assertTrue(sequencers.size() >= certain, () -> key + ": lost, seed " + SEED);
            assertTrue(sequencers.size() <= possible, () -> key + ": too many, seed " + SEED);
            assertEquals(List.copyOf(new TreeSet<>(sequencers)), sequencers, key);
          });
    }
  }
}
