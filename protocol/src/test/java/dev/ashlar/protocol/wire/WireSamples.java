package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.Supplier;

/** Messages of every kind, at random. */
public final class WireSamples {
  private final Random random;

  public WireSamples(Random random) {
    this.random = random;
  }

  public Message message(MessageType type) {
    return switch (type) {
      case HELLO -> new HandshakeMessage.Hello(side(), bytes(32), list(this::uuid));
      case CHALLENGE -> new HandshakeMessage.Challenge(side(), bytes(32));
      case PROOF -> new HandshakeMessage.Proof(bytes(32));
      case WELCOME -> new HandshakeMessage.Welcome(bytes(32), terms());
      case REFUSAL -> new HandshakeMessage.Refusal(side(), any(HandshakeFault.values()), text());
      case READ ->
          new Request.Read(shard(), view(), offset(), 1 + random.nextInt(Request.READ_BYTES_MAX));
      case WRITE -> write();
      case PREPARE_BYTES -> prepareBytes();
      case PREPARE_DELTAS ->
          new Request.PrepareDeltas(target(), new Profile(4, 2, 16384), someRanges());
      case FOLD ->
          new Request.FoldAll(list(() -> new FoldIntent(shard(), attempt(), 2 + number(), 1)));
      case DROP -> new Request.DropAll(list(this::drop));
      case DELETE -> new Request.DeleteAll(list(this::blob));
      case LIST_BLOBS ->
          new Request.ListBlobs(random.nextLong(), maybe() ? blob() : null, 1 + small());
      case LIST_ATTEMPTS ->
          new Request.ListAttempts(random.nextLong(), maybe() ? drop() : null, 1 + small());
      case CANCEL -> new Signal.Cancel();
      case DATA -> new Signal.Data();
      case DONE -> new Reply.Done(1 + number());
      case FAILED -> new Reply.Failed(any(ShardFault.values()), text());
      case BYTES -> new Reply.Bytes(1 + random.nextInt(Wire.DATA_BYTES_MAX));
      case BLOBS -> new Reply.Blobs(list(this::blob));
      case ATTEMPTS -> new Reply.Attempts(list(this::drop));
      case STATE -> new Signal.State(maybe() ? any(ShardFault.values()) : null);
      case PING -> new Signal.Ping();
      case PONG -> new Signal.Pong();
      case CALL ->
          new CallMessage.Call(
              any(CallMessage.Method.values()), random.nextInt(Wire.CALL_BYTES_MAX + 1));
      case ANSWER ->
          new CallMessage.Answer(
              any(CallMessage.Outcome.values()), random.nextInt(Wire.ANSWER_BYTES_MAX + 1));
    };
  }

  private Request write() {
    int length = 1 + random.nextInt(random.nextInt(8) == 0 ? Wire.DATA_BYTES_MAX : 20_000);
    return new Request.Write(
        shard(), number() * Profile.BLOCK_BYTES, length, crcs((length + 4095) / 4096));
  }

  private Request prepareBytes() {
    long offset = offset();
    int length = 1 + random.nextInt(100_000);
    return new Request.PrepareBytes(
        target(), offset, length, crcs(ShardIntent.pieces(offset, length)));
  }

  private List<Request.Range> someRanges() {
    List<Request.Range> ranges = new ArrayList<>();
    for (int i = random.nextInt(5); i >= 0; i--) {
      long offset = offset();
      int length = 1 + random.nextInt(50_000);
      int[] crcs = crcs(ShardIntent.pieces(offset, length));
      ranges.add(new Request.Range(random.nextInt(4), offset, length, crcs));
    }
    return ranges;
  }

  private HandshakeMessage.Terms terms() {
    return new HandshakeMessage.Terms(
        1 + small(),
        Wire.DATA_BYTES_MAX + small(),
        Wire.DATA_BYTES_MAX + small(),
        list(
            () ->
                new HandshakeMessage.ServedDrive(
                    new DriveId(uuid(), 1 + number()), maybe() ? any(ShardFault.values()) : null)));
  }

  private PeerIdentity side() {
    return new PeerIdentity(Wire.VERSION, any(Role.values()), uuid(), uuid());
  }

  private ShardIntent.Target target() {
    return new ShardIntent.Target(shard(), attempt(), view(), offset());
  }

  private ShardView view() {
    long folded = random.nextInt(3);
    List<CommittedAttempt> unfolded = new ArrayList<>();
    long revision = folded;
    for (int i = random.nextInt(4); i > 0; i--) {
      revision += 1 + random.nextInt(3);
      unfolded.add(new CommittedAttempt(attempt(), revision));
    }
    return new ShardView(revision + random.nextInt(2), folded, unfolded);
  }

  private DiscardIntent drop() {
    return new DiscardIntent(blob(), attempt());
  }

  private UUID uuid() {
    return new UUID(random.nextLong(), random.nextLong());
  }

  private ShardId shard() {
    return new ShardId(blob(), random.nextInt(Profile.MAX_SHARDS));
  }

  private BlobId blob() {
    return new BlobId(random.nextLong(), random.nextLong());
  }

  private AttemptId attempt() {
    return new AttemptId(random.nextLong(), random.nextLong());
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(200); i > 0; i--) {
      text.append((char) ('a' + random.nextInt(26))).append(maybe() ? "é" : "");
    }
    return text.toString();
  }

  private <T> List<T> list(Supplier<T> each) {
    List<T> list = new ArrayList<>();
    for (int i = random.nextInt(6); i > 0; i--) {
      list.add(each.get());
    }
    return list;
  }

  private <T> T any(T[] values) {
    return values[random.nextInt(values.length)];
  }

  private boolean maybe() {
    return random.nextBoolean();
  }

  private int small() {
    return random.nextInt(1000);
  }

  private long number() {
    return random.nextLong(1L << 40);
  }

  private long offset() {
    return random.nextLong(1L << 30);
  }

  private int[] crcs(int count) {
    return random.ints(count).toArray();
  }

  private byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }
}
