package dev.ashlar.server.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.EventsPage;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteBucket;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class EventDeliveryTest {
  private static final String A = "arn:x:sqs::a:fake";
  private static final String B = "arn:x:sqs::b:fake";
  private static final Duration LONG = Duration.ofMinutes(3);

  private final EventStore store = new EventStore();
  private final FakeTarget a = new FakeTarget(A);
  private final FakeTarget b = new FakeTarget(B);

  private void bucketOfBoth() throws Exception {
    store.create("bkt");
    store.notify("bkt", "a", A, "b", B);
  }

  private static DeliveryState.Target state(EventDelivery delivery, int target) {
    return Objects.requireNonNull(delivery.state()).targets().get(target);
  }

  @Test
  void eventsGoToTheTargetThatIsConfigured() throws Exception {
    bucketOfBoth();
    store.create("other");
    store.put("bkt", "a1");
    store.put("bkt", "b1");
    store.put("bkt", "c1");
    store.put("other", "a1");
    store.delete("bkt", "a1", "b1", "none");
    EventDelivery delivery = store.delivery(a, b);
    store.runAll(delivery);
    assertEquals(List.of("bkt/a1"), List.copyOf(a.got.keySet()));
    assertEquals(2, a.count());
    assertEquals(List.of("bkt/b1"), List.copyOf(b.got.keySet()));
    assertEquals(2, b.count());
    assertEquals(2, store.meters.get("ashlar.events.sent").tag("target", A).counter().count());
    assertEquals(1, store.meters.get("ashlar.events.dropped").counter().count()); // c1
    assertFalse(delivery.run());
  }

  /** What arrives for the first time arrives in the order in which it happened. */
  private static void assertInOrder(FakeTarget target) {
    target.got.forEach(
        (key, sequencers) -> {
          List<String> first = new ArrayList<>();
          sequencers.stream().filter(each -> !first.contains(each)).forEach(first::add);
          assertEquals(List.copyOf(new TreeSet<>(first)), first, key);
        });
  }

  @Property(tries = 30)
  void nothingIsLostAndEachKeyKeepsItsOrder(@ForAll long seed) throws Exception {
    new EventDeliveryTest().loseNothing(seed);
  }

  private void loseNothing(long seed) throws Exception {
    Random random = new Random(seed);
    bucketOfBoth();
    for (FakeTarget target : List.of(a, b)) {
      target.fails = key -> random.nextInt(4) == 0;
      target.losesAnswer = key -> random.nextInt(4) == 0;
    }
    Map<String, Integer> happened = new HashMap<>();
    EventDelivery delivery = store.delivery(a, b);
    for (int i = 0; i < 400; i++) {
      String key = (random.nextBoolean() ? "a" : "b") + random.nextInt(12);
      store.put("bkt", key);
      happened.merge("bkt/" + key, 1, Integer::sum);
      if (random.nextInt(10) == 0) {
        store.run(delivery, Duration.ofMillis(random.nextInt(500)));
      }
      if (random.nextInt(40) == 0) {
        a.isHanging = random.nextInt(3) == 0;
      }
      if (random.nextInt(40) == 0) {
        delivery = store.delivery(a, b); // the gateway was killed
      }
    }
    a.isHanging = false;
    store.runAll(delivery);
    Map<String, Integer> arrived = new HashMap<>();
    for (FakeTarget target : List.of(a, b)) {
      assertInOrder(target);
      target.got.forEach((key, all) -> arrived.put(key, new TreeSet<>(all).size()));
    }
    assertEquals(happened, arrived);
  }

  /** Without a kill, a key does not go back, even if answers are lost. */
  @Property(tries = 10)
  void nothingIsRepeatedButWhatHasFailed(@ForAll long seed) throws Exception {
    new EventDeliveryTest().repeatOnlyWhatHasFailed(seed);
  }

  private void repeatOnlyWhatHasFailed(long seed) throws Exception {
    Random random = new Random(seed);
    bucketOfBoth();
    a.losesAnswer = key -> random.nextBoolean();
    for (int i = 0; i < 200; i++) {
      store.put("bkt", "a" + random.nextInt(5));
    }
    store.runAll(store.delivery(a, b));
    a.got.forEach(
        (key, sequencers) -> {
          List<String> sorted = new ArrayList<>(sequencers);
          sorted.sort(null);
          assertEquals(sorted, sequencers);
        });
  }

  @Test
  void aTargetThatIsDownForADayHoldsUpNobody() throws Exception {
    bucketOfBoth();
    a.fails = key -> true;
    for (int i = 0; i < 5_000; i++) {
      store.put("bkt", "a" + i);
      store.put("bkt", "b" + i);
    }
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, LONG);
    assertEquals(5_000, b.count());
    assertEquals(5_000, store.waiting());
    assertEquals("down", state(delivery, 0).state());
    assertEquals("it fails as told", state(delivery, 0).lastError());
    assertEquals("up", state(delivery, 1).state());
    assertTrue(state(delivery, 0).pending() <= TargetDelivery.EVENTS_MAX);
    int attempts = a.attempts;
    for (int i = 0; i < 24; i++) {
      store.clock.advanceMs(Duration.ofHours(1).toMillis());
      store.put("bkt", "b" + i);
      store.run(delivery, Duration.ofSeconds(1));
    }
    assertEquals(5_024, b.count());
    assertTrue(a.attempts - attempts <= 24 * 2, "a target that is down is asked seldom");
    a.fails = key -> false;
    store.clock.advanceMs(Duration.ofMinutes(1).toMillis());
    store.runAll(delivery);
    assertEquals(5_000, a.count());
    store.run(delivery, Duration.ofSeconds(5));
    assertEquals("up", state(delivery, 0).state());
  }

  @Test
  void aTargetThatHangsHoldsUpNobody() throws Exception {
    bucketOfBoth();
    a.isHanging = true;
    for (int i = 0; i < 100; i++) {
      store.put("bkt", "a" + i);
      store.put("bkt", "b" + i);
    }
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, Duration.ofSeconds(1));
    assertEquals(100, b.count());
    assertEquals(16, a.hanging.size());
    store.run(delivery, Duration.ofSeconds(35));
    assertTrue(a.hanging.getFirst().isCancelled());
    assertEquals("no answer in 30 s", state(delivery, 0).lastError());
    assertEquals("down", state(delivery, 0).state());
    a.isHanging = false;
    store.runAll(delivery);
    assertEquals(100, a.count());
  }

  /** A late answer to what was given up does not count for what was sent again. */
  @Test
  void aLateAnswerChangesNothing() throws Exception {
    bucketOfBoth();
    a.isHanging = true;
    store.put("bkt", "a");
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, Duration.ofSeconds(1));
    store.run(delivery, Duration.ofSeconds(31));
    a.hanging.getFirst().complete(null);
    store.run(delivery, Duration.ofMillis(100));
    assertEquals(1, store.waiting());
    a.isHanging = false;
    store.run(delivery, Duration.ofSeconds(31));
    assertEquals(0, store.waiting());
    assertEquals(1, a.count());
  }

  @Test
  void aKeyThatFailsHoldsBackItselfOnly() throws Exception {
    bucketOfBoth();
    a.fails = key -> key.endsWith("/a-poison");
    for (int i = 0; i < 10; i++) {
      store.put("bkt", "a-poison");
      store.put("bkt", "a-good");
    }
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, LONG);
    assertEquals(10, a.count());
    assertEquals(10, store.waiting());
    assertEquals(10, state(delivery, 0).pending());
    assertTrue(a.attempts < 10 + 30, "again later each time: " + a.attempts);
    assertTrue(a.attempts > 10 + 20, "but within 10 seconds: " + a.attempts);
    a.fails = key -> false;
    store.runAll(delivery);
    assertEquals(20, a.count());
    assertInOrder(a);
  }

  @Test
  void manyKeysThatFailHoldBackThemselvesOnly() throws Exception {
    bucketOfBoth();
    a.fails = key -> key.contains("poison");
    for (int i = 0; i < 1_500; i++) {
      store.put("bkt", "a-poison" + i);
    }
    for (int i = 0; i < 400; i++) {
      store.put("bkt", "a-good" + i);
    }
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, LONG);
    assertEquals(400, a.count());
    assertEquals(1_500, store.waiting());
    store.put("bkt", "a-good");
    store.run(delivery, Duration.ofSeconds(5));
    assertEquals(401, a.count());
  }

  @Test
  void keysThatHangLeaveRoomForOthers() throws Exception {
    bucketOfBoth();
    a.hangs = key -> key.contains("poison");
    for (int i = 0; i < 18; i++) {
      store.put("bkt", "a-poison" + i);
    }
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, LONG);
    store.put("bkt", "a-good");
    store.run(delivery, LONG);
    assertEquals(1, a.count());
    for (int i = 0; i < 100; i++) {
      store.put("bkt", "a-good" + i);
      store.run(delivery, Duration.ofSeconds(1));
      assertEquals(i + 2, a.count());
    }
  }

  @Test
  void whatWaitsIsNotReadAgainAndAgain() throws Exception {
    bucketOfBoth();
    a.fails = key -> true;
    for (int i = 0; i < 1_500; i++) {
      store.put("bkt", "a" + i);
    }
    int[] read = new int[1];
    EventDelivery delivery = store.delivery(counting(read), a, b);
    store.run(delivery, Duration.ofSeconds(30));
    int before = read[0];
    assertTrue(before < 3 * 1_500 + 100, "each target reads it once: " + before);
    store.run(delivery, LONG);
    assertTrue(read[0] - before <= 100, "one for each look: " + (read[0] - before));
  }

  private MetadataClient counting(int[] read) {
    return (MetadataClient)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, method, arguments) -> {
              try {
                Object answer = method.invoke(store.metadata, arguments);
                if (answer instanceof EventsPage page) {
                  read[0] += page.events().size();
                }
                return answer;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void whatNobodyWantsAnyMoreIsDropped() throws Exception {
    bucketOfBoth();
    a.fails = key -> true;
    for (int i = 0; i < 3_000; i++) {
      store.put("bkt", "a" + i);
    }
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, LONG);
    assertEquals(3_000, store.waiting());
    store.notify("bkt", "b", B);
    store.run(delivery, LONG);
    assertEquals(0, store.waiting());
    assertEquals(0, a.count() + b.count());
  }

  /** Also if a target has so much in hand that it does not come to them. */
  @Test
  void eventsThatNobodyHasInHandAreDropped() throws Exception {
    bucketOfBoth();
    for (String bucket : List.of("second", "third")) {
      store.create(bucket);
      store.notify(bucket, "a", A);
    }
    a.fails = key -> true;
    for (int i = 0; i < 2_500; i++) {
      store.put("bkt", "a" + i);
    }
    store.put("second", "a");
    store.put("third", "a");
    store.delete("third", "a");
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, LONG);
    assertEquals(2_503, store.waiting());
    store.notify("second", "b", B);
    store.metadata.require(
        Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("third")));
    store.run(delivery, LONG);
    assertEquals(2_500, store.waiting());
  }

  /** It is sent to its new target, and its old one gets it no more. */
  @Test
  void whatIsUnderWayFollowsTheConfiguration() throws Exception {
    bucketOfBoth();
    a.isHanging = true;
    store.put("bkt", "a");
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, Duration.ofSeconds(1));
    store.notify("bkt", "a", B);
    store.run(delivery, LONG);
    assertEquals(0, store.waiting());
    assertEquals(1, b.count());
    assertEquals(0, state(delivery, 0).pending());
    int attempts = a.attempts;
    store.run(delivery, LONG);
    assertEquals(attempts, a.attempts);
  }

  @Test
  void aRestartRepeatsNothing() throws Exception {
    bucketOfBoth();
    a.isHanging = true;
    EventDelivery delivery = store.delivery(a, b);
    for (int i = 0; i < 300; i++) {
      store.put("bkt", "a" + i);
      delivery.run();
      store.clock.advanceMs(500);
      if (i % 10 == 0) {
        store.notify("bkt", "a", A, "c" + i, B);
      }
      a.hanging.getLast().complete(null);
    }
    delivery.run();
    assertEquals(0, store.waiting());
    assertEquals(300, a.attempts);
  }

  @Test
  void eventsFollowTheConfigurationToAnotherTarget() throws Exception {
    bucketOfBoth();
    a.fails = key -> true;
    for (int i = 0; i < 3_000; i++) {
      store.put("bkt", "a" + i % 500);
    }
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, LONG);
    store.notify("bkt", "a", B);
    store.run(delivery, LONG);
    assertEquals(0, store.waiting());
    assertEquals(3_000, b.count());
    assertInOrder(b);
  }

  @Test
  void eventsOfDeletedBucketsAreDropped() throws Exception {
    bucketOfBoth();
    store.put("bkt", "a");
    store.delete("bkt", "a");
    store.metadata.require(
        Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("bkt")));
    store.runAll(store.delivery(a, b));
    assertEquals(0, a.count());
  }

  @Test
  void theNextOwnerOfTheNameIsNotTold() throws Exception {
    bucketOfBoth();
    a.fails = key -> true;
    store.put("bkt", "a-old");
    store.delete("bkt", "a-old");
    EventDelivery delivery = store.delivery(a, b);
    store.run(delivery, Duration.ofSeconds(1));
    store.metadata.require(
        Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("bkt")));
    bucketOfBoth();
    store.put("bkt", "a-new");
    store.run(delivery, LONG);
    assertEquals(1, store.waiting());
    a.fails = key -> false;
    store.runAll(delivery);
    assertEquals(List.of("bkt/a-new"), List.copyOf(a.got.keySet()));
  }

  @Test
  void eventsOfATargetThatIsNotConfiguredWaitForIt() throws Exception {
    bucketOfBoth();
    store.put("bkt", "a");
    store.put("bkt", "b");
    EventDelivery delivery = store.delivery(b);
    store.run(delivery, LONG);
    assertEquals(1, store.waiting());
    assertEquals(1, b.count());
    DeliveryState state = Objects.requireNonNull(delivery.state());
    assertEquals(1, state.unknown());
    assertEquals(List.of(A), state.unknownTargets());
    assertEquals(1, store.meters.get("ashlar.events.unknown").gauge().value());
    assertTrue(oldestOf(DeliveryState.UNKNOWN) > 0);
    store.runAll(store.delivery(a, b)); // the operator has configured it again
    assertEquals(1, a.count());
    assertEquals(1, b.count());
  }

  @Test
  void metadataThatDoesNotAnswerDelaysOnly() throws Exception {
    bucketOfBoth();
    store.put("bkt", "a");
    boolean[] isDown = {true};
    MetadataClient failing =
        (MetadataClient)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {MetadataClient.class},
                (proxy, method, arguments) -> {
                  if (isDown[0] && method.getName().equals("submit")) {
                    throw MetadataUnavailableException.refused("as told");
                  }
                  try {
                    return method.invoke(store.metadata, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    EventDelivery delivery = store.delivery(failing, a, b);
    int failed = 0;
    for (int i = 0; i < 5; i++) {
      try {
        delivery.run();
      } catch (MetadataUnavailableException e) {
        failed++;
      }
      store.clock.advanceMs(100);
    }
    assertEquals(5, failed);
    assertEquals(1, a.count());
    isDown[0] = false;
    store.runAll(delivery);
    assertEquals(1, a.count());
  }

  /** Which target is to blame for what waits. */
  private double oldestOf(String target) {
    return store.meters.get("ashlar.events.target.oldest").tag("target", target).gauge().value();
  }

  @Test
  void theStateIsKnownOnlyWhereEventsAreDelivered() throws Exception {
    bucketOfBoth();
    store.put("bkt", "a");
    a.isHanging = true;
    EventDelivery delivery = store.delivery(a, b);
    assertNull(delivery.state());
    assertEquals(Double.NaN, store.meters.get("ashlar.events.waiting").gauge().value());
    delivery.run();
    store.clock.advanceMs(3_000);
    delivery.run();
    DeliveryState state = delivery.state();
    assertNotNull(state);
    assertEquals(1, state.waiting());
    assertEquals(0, state.lost());
    assertEquals(1_000_000, state.oldestMs());
    assertEquals(1, store.meters.get("ashlar.events.waiting").gauge().value());
    assertEquals(3, store.meters.get("ashlar.events.oldest").gauge().value());
    assertEquals(3, oldestOf(A));
    assertEquals(0, oldestOf(B));
    delivery.skip();
    assertNull(delivery.state());
    assertTrue(a.hanging.getFirst().isCancelled());
    assertEquals(Double.NaN, store.meters.get("ashlar.events.oldest").gauge().value());
  }
}
