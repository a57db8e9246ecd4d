package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.server.admin.EventPage.EventsInfo;
import dev.ashlar.server.cluster.BalancedCluster;
import dev.ashlar.server.jobs.DeliveryState;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class EventPageTest {
  private final BalancedCluster cluster = new BalancedCluster(12, 1);

  EventPageTest() throws Exception {
    cluster.metadata.require(TestBlobs.createBucket("bkt"));
    cluster.metadata.require(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket("bkt")
                    .setKind(18)
                    .setNotifiedEvents(1 << EventRow.Kind.DELETED.getNumber())));
    cluster.metadata.require(
        Command.newBuilder()
            .setPutObject(
                PutObject.newBuilder()
                    .setBucket("bkt")
                    .setKey("k")
                    .setSummary(ObjectSummary.newBuilder().setEtag("e"))));
    cluster.metadata.require(
        Command.newBuilder()
            .setDeleteObjects(DeleteObjects.newBuilder().setBucket("bkt").addKeys("k")));
  }

  @Test
  void everyGatewayKnowsTheOutbox() throws Exception {
    EventsInfo info = (EventsInfo) Objects.requireNonNull(cluster.admin.view("events", "", ""));
    assertEquals(1, info.waiting());
    assertEquals(0, info.lost());
    EventRow event = cluster.metadata.events(null, 1).events().getFirst();
    assertEquals(event.getTimeMs(), info.oldestMs());
    assertEquals(false, info.delivering());
    assertEquals(List.of(), info.targets());
  }

  @Test
  void theOneThatDeliversKnowsTheTargets() throws Exception {
    DeliveryState.Target target =
        new DeliveryState.Target("arn", "down", 1, 7, 2, 3, "it is down", 4);
    DeliveryState state = new DeliveryState(9, 9, 9, List.of(target), 5, 6, List.of("other"));
    EventsInfo info = new EventPage(cluster.metadata, () -> state).info();
    assertEquals(1, info.waiting());
    assertEquals(true, info.delivering());
    assertEquals(List.of(target), info.targets());
    assertEquals(5, info.unknown());
    assertEquals(List.of("other"), info.unknownTargets());
  }
}
