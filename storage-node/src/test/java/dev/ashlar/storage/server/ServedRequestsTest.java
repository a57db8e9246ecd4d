package dev.ashlar.storage.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the server makes of cancels, of late requests, and of clients that come again. */
class ServedRequestsTest {
  private static final UUID DRIVE = new UUID(1, 2);
  private static final ShardId SHARD = new ShardId(new BlobId(7, 1), 0);
  private static final int LENGTH = 100_000;
  private static final Request.Write WRITE =
      new Request.Write(SHARD, 0, LENGTH, AbstractShardStoreContract.crcs(new byte[LENGTH]));
  private static final byte[] NOTHING = new byte[0];

  private final SlabPool serverSlabs = new SlabPool();
  private final MemoryShardStore drive = new MemoryShardStore(new DriveId(DRIVE, 1), serverSlabs);
  private final PeerIdentity side =
      new PeerIdentity(Wire.VERSION, Role.GATEWAY, Loopback.CLUSTER, UUID.randomUUID());

  private RawPeer greeted(Loopback loopback) throws IOException {
    RawPeer peer = new RawPeer(loopback.port());
    assertInstanceOf(
        HandshakeMessage.Welcome.class, peer.greet(side, Loopback.SECRET, List.of(DRIVE)));
    return peer;
  }

  private static void assertFailed(@Nullable Message answer) {
    assertEquals(ShardFault.UNAVAILABLE, assertInstanceOf(Reply.Failed.class, answer).fault());
  }

  @Test
  void aRequestCancelledWhileItArrivesIsForgotten() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, drive);
        RawPeer peer = greeted(loopback)) {
      peer.request(1, 0, WRITE, new byte[60_000], false);
      peer.request(1, 0, new Signal.Cancel(), NOTHING, true);
      assertFailed(peer.answer());
      assertEquals(0, drive.writes());
      peer.request(2, 0, WRITE, new byte[60_000], false);
      peer.request(2, 0, new Signal.Data(), new byte[40_000], true);
      assertEquals(new Reply.Done(1), peer.answer());
      peer.request(2, 0, new Signal.Cancel(), NOTHING, true);
      peer.request(3, 0, new Request.DeleteAll(List.of()), NOTHING, true);
      assertEquals(new Reply.Done(1), peer.answer(), "the cancel came too late for anything");
    }
  }

  @Test
  void aCancelledReadIsNotSent() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, drive);
        RawPeer peer = greeted(loopback)) {
      drive.write(AbstractShardStoreContract.shardWrite(SHARD, 0, new byte[10]), new Answer<>());
      drive.holdAnswers();
      Request read = new Request.Read(SHARD, ShardView.ORIGINAL, 0, 10);
      peer.request(1, 0, read, NOTHING, true);
      peer.request(1, 0, new Signal.Cancel(), NOTHING, true);
      // Behind both: when this is answered, both have been seen.
      peer.request(2, 0, new Request.ListBlobs(-1, null, 1), NOTHING, true);
      assertInstanceOf(Reply.Blobs.class, peer.answer());
      drive.releaseAnswers();
      assertFailed(peer.answer());
    }
  }

  @Test
  void nothingOvertakesAChangeCancelledAtTheDrive() throws Exception {
    HeldWrites held = new HeldWrites(drive);
    try (Loopback loopback = new Loopback(serverSlabs, held);
        RawPeer peer = greeted(loopback)) {
      peer.request(1, 0, WRITE, new byte[LENGTH], true);
      peer.request(1, 0, new Signal.Cancel(), NOTHING, true);
      peer.request(2, 0, new Request.DeleteAll(List.of(SHARD.blob())), NOTHING, true);
      assertFailed(peer.answer());
      held.release();
      assertEquals(new Reply.Done(1), peer.answer(), "of the write");
      peer.request(3, 0, new Request.DeleteAll(List.of(SHARD.blob())), NOTHING, true);
      assertEquals(new Reply.Done(1), peer.answer());
      assertEquals(0, drive.storedBytes());
    }
  }

  @Test
  void requestsAfterTheirDeadlineAreNotStarted() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, drive);
        RawPeer peer = greeted(loopback)) {
      peer.sendRaw(peer.frame(0, 1, WRITE, new byte[60_000], false, 1));
      peer.request(2, 0, new Request.DeleteAll(List.of()), NOTHING, true);
      assertEquals(new Reply.Done(1), peer.answer());
      Thread.sleep(5);
      peer.request(1, 0, new Signal.Data(), new byte[40_000], true);
      assertFailed(peer.answer());
      assertEquals(0, drive.writes());
    }
  }

  @Test
  void theNewestConnectionOfAClientReplacesTheOthers() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, drive);
        RawPeer first = greeted(loopback);
        RawPeer second = greeted(loopback);
        RawPeer third = greeted(loopback)) {
      assertNull(first.answer());
      assertNull(second.answer());
      third.request(1, 0, WRITE, new byte[LENGTH], true);
      assertEquals(new Reply.Done(1), third.answer());
    }
  }
}
