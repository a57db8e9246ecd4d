package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.object.VersionCommands.BUCKET;
import static dev.ashlar.metadata.state.object.VersionCommands.NULL;
import static dev.ashlar.metadata.state.object.VersionCommands.ref;
import static dev.ashlar.metadata.state.object.VersionCommands.tags;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.EventsPage;
import dev.ashlar.protocol.message.AckEvents;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.EventRow.Kind;
import dev.ashlar.protocol.message.OutboxRow;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.RequestOrigin;
import dev.ashlar.protocol.message.Versioning;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Events of buckets with notifications. */
class OutboxTest {
  private final VersionCommands it = VersionCommands.withBucket();

  private void notify(Kind... kinds) throws Exception {
    int mask = 0;
    for (Kind kind : kinds) {
      mask |= 1 << kind.getNumber();
    }
    it.accepted(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket(BUCKET)
                    .setKind(1)
                    .setDocument(ByteString.copyFromUtf8("x"))
                    .setNotifiedEvents(mask)));
  }

  private List<String> events() throws Exception {
    return it.metadata().events(null, 100).events().stream()
        .map(event -> event.getKind() + " " + event.getKey())
        .toList();
  }

  @Test
  void onlyEventsThatTheBucketNotifiesOfAreWritten() throws Exception {
    it.put("a", 1);
    notify(Kind.CREATED_BY_PUT);
    it.put("b", 2);
    it.delete("b");
    it.restart();
    assertEquals(List.of("CREATED_BY_PUT b"), events());
    EventRow event = it.metadata().events(null, 1).events().getFirst();
    assertEquals(2, event.getSize());
    assertEquals(BUCKET, event.getBucket());
    assertEquals(it.nowMs(), event.getTimeMs());
  }

  /** A copy with blobs of another profile is put like new data. */
  @Test
  void aCopyThatBringsItsBlobsIsACopy() throws Exception {
    notify(Kind.CREATED_BY_PUT, Kind.CREATED_BY_COPY);
    it.accepted(Command.newBuilder().setPutObject(it.object("k", 1).setCopied(true)));
    assertEquals(List.of("CREATED_BY_COPY k"), events());
  }

  @Test
  void anEventKnowsWhoAskedForIt() throws Exception {
    notify(Kind.CREATED_BY_PUT);
    RequestOrigin origin =
        RequestOrigin.newBuilder().setPrincipal("p").setSourceIp("::1").setRequestId("r").build();
    it.accepted(Command.newBuilder().setOrigin(origin).setPutObject(it.object("k", 1)));
    assertEquals(origin, it.metadata().events(null, 1).events().getFirst().getOrigin());
  }

  @Test
  void deletionsAreToldOneByOne() throws Exception {
    notify(Kind.DELETED, Kind.MARKED_DELETED, Kind.TAGGED, Kind.UNTAGGED);
    it.put("a", 1);
    it.delete("a");
    it.versioning(Versioning.VERSIONING_ENABLED);
    long version = it.put("b", 1);
    it.set(it.facts("b", null).setTags(tags("t")));
    it.accepted(
        Command.newBuilder()
            .setDeleteObjects(
                DeleteObjects.newBuilder()
                    .setBucket(BUCKET)
                    .addTargets(DeleteTarget.newBuilder().setKey("missing").setVersion(NULL))
                    .addTargets(DeleteTarget.newBuilder().setKey("b"))
                    .addTargets(DeleteTarget.newBuilder().setKey("b").setVersion(ref(version)))));
    assertEquals(List.of("DELETED a", "TAGGED b", "MARKED_DELETED b", "DELETED b"), events());
    EventsPage page = it.metadata().events(null, 3);
    EventRow last = page.events().getLast();
    EventRow next = it.metadata().events(last, 3).events().getFirst();
    assertEquals(version, next.getVersion());
    assertEquals(4, page.outbox().getEvents());
  }

  @Test
  void acknowledgedEventsAreRemovedOnce() throws Exception {
    notify(Kind.CREATED_BY_PUT);
    it.put("a", 1);
    it.put("b", 1);
    EventRow first = it.metadata().events(null, 1).events().getFirst();
    AckEvents.Event acked =
        AckEvents.Event.newBuilder()
            .setPosition(first.getPosition())
            .setNumber(first.getNumber())
            .build();
    Command.Builder ack =
        Command.newBuilder().setAckEvents(AckEvents.newBuilder().addEvents(acked).addEvents(acked));
    it.accepted(ack);
    it.accepted(ack);
    assertEquals(List.of("CREATED_BY_PUT b"), events());
    assertEquals(1, it.metadata().events(null, 1).outbox().getEvents());
  }

  @Test
  void aFullOutboxLosesEventsAndStopsNoWrite() throws Exception {
    notify(Kind.CREATED_BY_PUT);
    OutboxRow full = OutboxRow.newBuilder().setEvents(Outbox.EVENTS_MAX).build();
    it.table().rows().put(Keys.outbox(), full.toByteArray());
    it.restart();
    it.put("a", 1);
    assertTrue(events().isEmpty());
    assertEquals(1, it.metadata().events(null, 1).outbox().getLost());
    assertEquals(1, it.size("a", null));
  }
}
