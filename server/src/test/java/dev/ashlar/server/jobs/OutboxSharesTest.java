package dev.ashlar.server.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.EventsPage;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AckEvents;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.EventRow;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class OutboxSharesTest {
  private static final String DEAD = "arn:x:sqs::dead:fake";

  private final EventStore store = new EventStore();
  private final OutboxShares shares = new OutboxShares(store.metadata, store.meters, 100);

  private void write(String bucket, String account, int events) throws Exception {
    store.create(bucket, account);
    store.notify(bucket, "", DEAD);
    keys(events).forEach(key -> store.put(bucket, key));
  }

  /** Two events of each key wait then. */
  private void delete(String bucket, int keys) {
    keys(keys).forEach(key -> store.delete(bucket, key));
    store.metadata.require(
        Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName(bucket)));
  }

  private static Stream<String> keys(int count) {
    return IntStream.range(0, count).mapToObj(i -> "k" + i);
  }

  /** The oldest events are sent. */
  private void send(int events) throws MetadataUnavailableException {
    AckEvents.Builder sent = AckEvents.newBuilder();
    for (EventRow event : store.metadata.events(null, events).events()) {
      sent.addEvents(EventPosition.of(event).acknowledgement());
    }
    store.metadata.require(Command.newBuilder().setAckEvents(sent));
  }

  /** So many are sent as soon as it is known how many events wait. */
  private MetadataClient sending(int events) {
    return (MetadataClient)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, method, arguments) -> {
              try {
                Object answer = method.invoke(store.metadata, arguments);
                if (answer instanceof EventsPage page && page.events().size() == 1) {
                  send(events);
                }
                return answer;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** The keys of a bucket whose events wait. */
  private List<String> waiting(String bucket) throws Exception {
    return store.metadata.events(null, 1_000).events().stream()
        .filter(event -> event.getBucket().equals(bucket))
        .map(EventRow::getKey)
        .toList();
  }

  private double shed() {
    return store.meters.get("ashlar.events.shed").counter().count();
  }

  @Test
  void nothingIsRemovedWhileThereIsRoom() throws Exception {
    write("a", "one", 100);
    shares.run();
    assertEquals(100, store.waiting());
    assertEquals(0, shed());
  }

  @Test
  void whoHasFilledItLosesTheNewest() throws Exception {
    write("small", "little", 10);
    write("b1", "much", 70);
    write("b2", "much", 30); // accounts count, not buckets
    write("after", "little", 5);
    shares.run();
    assertEquals(10, waiting("small").size());
    assertEquals(5, waiting("after").size());
    assertEquals(70, waiting("b1").size());
    assertEquals(List.of("k0", "k1", "k2", "k3", "k4"), waiting("b2"));
    assertEquals(25, shed());
    assertEquals(90, store.waiting(), "the count of metadata follows");
    shares.run();
    assertEquals(90, store.waiting());
  }

  @Test
  void afterARoundThereIsRoomForMore() throws Exception {
    write("a", "one", 101);
    shares.run();
    assertEquals(90, store.waiting());
    for (int i = 0; i < 10; i++) {
      store.put("a", "more" + i);
      shares.run();
    }
    assertEquals(100, store.waiting());
    assertEquals(11, shed());
  }

  @Test
  void anOutboxThatIsEmptiedMeanwhileLosesNothing() throws Exception {
    write("a", "one", 60);
    write("b", "two", 95);
    new OutboxShares(sending(60), store.meters, 100).run();
    assertEquals(95, store.waiting());
    assertEquals(0, shed());
  }

  @Test
  void aRestoredStoreLosesNothing() throws Exception {
    write("a", "one", 150);
    store.setRestored(true);
    shares.run();
    assertEquals(150, store.waiting());
    store.setRestored(false);
    shares.run();
    assertEquals(90, store.waiting());
  }

  @Test
  void aRoundThatIsInterruptedEnds() throws Exception {
    write("a", "one", 150);
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, shares::run);
    assertEquals(150, store.waiting());
  }

  @Test
  void accountsThatFillItTogetherHaveEqualShares() throws Exception {
    write("a", "one", 70);
    write("b", "two", 90);
    write("c", "three", 20);
    shares.run();
    assertEquals(35, waiting("a").size());
    assertEquals(35, waiting("b").size());
    assertEquals(20, waiting("c").size());
  }

  @Test
  void eventsOfDeletedBucketsAreNobodys() throws Exception {
    write("gone", "one", 150);
    delete("gone", 150);
    write("a", "one", 40);
    shares.run();
    assertEquals(90, store.waiting());
    assertEquals(40, waiting("a").size());
  }

  @Test
  void eventsOfADeletedBucketAreNotOfWhoHasItsNameNow() throws Exception {
    write("name", "one", 40);
    delete("name", 40);
    write("name", "two", 40);
    shares.run();
    List<String> left = waiting("name");
    assertEquals(90, left.size());
    assertEquals(keys(40).toList(), left.subList(50, 90), "those of the bucket that is there");
  }

  @Property
  void sharesFillWhatThereIs(
      @ForAll @Size(min = 1, max = 8) List<@LongRange(min = 1, max = 60) Long> counts,
      @ForAll @LongRange(min = 1, max = 200) long max) {
    long all = counts.stream().mapToLong(Long::longValue).sum();
    if (all <= max) {
      return;
    }
    long share = OutboxShares.share(counts, max);
    long kept = counts.stream().mapToLong(count -> Math.min(count, share)).sum();
    long more = counts.stream().mapToLong(count -> Math.min(count, share + 1)).sum();
    assertTrue(kept <= max && more > max, () -> share + " of " + counts + " for " + max);
  }
}
