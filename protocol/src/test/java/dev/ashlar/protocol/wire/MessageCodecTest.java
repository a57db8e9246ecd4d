package dev.ashlar.protocol.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class MessageCodecTest {
  @Property(tries = 2000)
  void messagesSurviveARoundTrip(@ForAll long seed, @ForAll MessageType type) throws Exception {
    Message message = new WireSamples(new Random(seed)).message(type);
    ByteBuffer bytes = put(message);
    assertTrue(bytes.remaining() <= Wire.BODY_BYTES_MAX);
    Message taken = MessageCodec.take(type, bytes.duplicate());
    assertEquals(bytes, put(taken), () -> "of " + message);
    assertEquals(message.getClass(), taken.getClass());
  }

  /** Whatever comes is a message or refused as a whole; nothing else is thrown. */
  @Property(tries = 3000)
  void garbageIsRefused(@ForAll long seed, @ForAll MessageType type) throws Exception {
    Random random = new Random(seed);
    byte[] bytes = new byte[random.nextInt(random.nextBoolean() ? 64 : 2000)];
    random.nextBytes(bytes);
    takeOrRefuse(type, ByteBuffer.wrap(bytes));
  }

  @Property(tries = 3000)
  void damagedMessagesAreRefusedOrOthers(@ForAll long seed, @ForAll MessageType type)
      throws Exception {
    Random random = new Random(seed);
    ByteBuffer bytes = put(new WireSamples(random).message(type));
    if (bytes.hasRemaining()) {
      bytes.put(random.nextInt(bytes.limit()), (byte) random.nextInt());
      bytes.limit(random.nextInt(4) == 0 ? random.nextInt(bytes.limit() + 1) : bytes.limit());
    }
    takeOrRefuse(type, bytes);
  }

  private static void takeOrRefuse(MessageType type, ByteBuffer bytes) {
    try {
      put(MessageCodec.take(type, bytes));
    } catch (WireFormatException e) {
      assertTrue(String.valueOf(e.getMessage()).length() < 1000);
    }
  }

  @Test
  void headersAreChecked() throws Exception {
    ByteBuffer bytes = header(new FrameSeal(), 10, 20);
    FrameHeader header = FrameHeader.take(bytes.duplicate(), new FrameSeal(), 10, 20);
    assertEquals(new FrameHeader(MessageType.WRITE, true, false, 3, 77, 10, 20, 500, 1, 2), header);
    for (int i = 0; i < FrameHeader.BYTES * 8; i++) {
      ByteBuffer bad = ByteBuffer.allocate(FrameHeader.BYTES).put(bytes.duplicate()).flip();
      bad.put(i / 8, (byte) (bad.get(i / 8) ^ 1 << i % 8));
      assertThrows(WireFormatException.class, () -> FrameHeader.take(bad, new FrameSeal(), 10, 20));
    }
    assertThrows(
        WireFormatException.class,
        () -> FrameHeader.take(bytes.duplicate(), new FrameSeal(), 9, 20));
    assertThrows(
        WireFormatException.class,
        () -> FrameHeader.take(bytes.duplicate(), new FrameSeal(), 10, 19));
  }

  @Test
  void repeatedReflectedAndReplayedFramesAreRefused() throws Exception {
    FrameSeal out = new FrameSeal();
    out.salt(5);
    ByteBuffer first = header(out, 0, 0);
    ByteBuffer second = header(out, 0, 0);
    FrameSeal in = new FrameSeal();
    in.salt(5);
    FrameHeader.take(first.duplicate(), in, 0, 0);
    assertThrows(WireFormatException.class, () -> FrameHeader.take(first.duplicate(), in, 0, 0));
    FrameSeal skipped = new FrameSeal();
    skipped.salt(5);
    assertThrows(
        WireFormatException.class, () -> FrameHeader.take(second.duplicate(), skipped, 0, 0));
    FrameSeal other = new FrameSeal();
    other.salt(6);
    assertThrows(WireFormatException.class, () -> FrameHeader.take(first.duplicate(), other, 0, 0));
  }

  @Test
  void everyMessageHasAType() {
    WireSamples samples = new WireSamples(new Random(1));
    Set<Class<?>> typed = new HashSet<>();
    for (MessageType type : MessageType.values()) {
      Message message = samples.message(type);
      assertEquals(type, message.type());
      typed.add(message.getClass());
    }
    assertEquals(records(Message.class).collect(Collectors.toSet()), typed);
  }

  private static Stream<Class<?>> records(Class<?> kind) {
    return kind.isSealed()
        ? Arrays.stream(kind.getPermittedSubclasses()).flatMap(MessageCodecTest::records)
        : Stream.of(kind);
  }

  @Test
  void noMessageTypeLooksLikeTls() {
    List<Integer> ofTls = List.of(21, 22);
    for (MessageType type : MessageType.values()) {
      assertFalse(ofTls.contains((int) type.code()), type::name);
    }
  }

  /** Builds of different ages talk to each other: a change of any byte needs a new version. */
  @Test
  void everyMessageKeepsItsBytes() {
    WireSamples samples = new WireSamples(new Random(42));
    CRC32C crc = new CRC32C();
    StringBuilder checksums = new StringBuilder();
    for (MessageType type : MessageType.values()) {
      crc.reset();
      for (int i = 0; i < 50; i++) {
        crc.update(put(samples.message(type)));
      }
      checksums
          .append(type.code())
          .append(' ')
          .append(Long.toHexString(crc.getValue()))
          .append('\n');
    }
    assertEquals(
        """
        1 f71ea061
        2 99cd101a
        3 8301b01b
        4 749f86f8
        5 e6f18916
        10 4d744103
        11 ba577569
        12 1eee535e
        13 4a886e2a
        14 632ac294
        15 4389c846
        16 f999ff8b
        17 abb49907
        18 a47d4b53
        19 0
        20 0
        30 df8bec41
        31 bb8e3bfc
        32 5974aa03
        33 a7182b4e
        34 bae2d29a
        35 2fd9fe1e
        36 0
        37 0
        40 3c7d86a7
        41 837a60a4
        """,
        checksums.toString());
  }

  @Test
  void version1StaysAsItIs() {
    PeerIdentity side = new PeerIdentity(1, Role.GATEWAY, new UUID(1, 2), new UUID(3, 4));
    assertEquals(
        "41534857000101000000000000000001000000000000000200000000000000030000000000000004"
            + "09".repeat(32)
            + "000100000000000000050000000000000006",
        hex(new HandshakeMessage.Hello(side, nines(), List.of(new UUID(5, 6)))));
    ShardId shard = new ShardId(new BlobId(7, 8), 9);
    assertEquals(
        "00000000000000070000000000000008090000000000000000000000000000000000000000000000001000"
            + "00000fff",
        hex(new Request.Read(shard, ShardView.ORIGINAL, 4096, 4095)));
    assertEquals(
        "0000000000000007000000000000000809000000000000100000001001aabbccdd11223344",
        hex(new Request.Write(shard, 4096, 4097, new int[] {0xaabbccdd, 0x11223344})));
    assertEquals("000000000000000c", hex(new Reply.Done(12)));
    assertEquals("1200012345", hex(new CallMessage.Call(CallMessage.Method.APPEND, 0x12345)));
    assertEquals("0100000000", hex(new CallMessage.Answer(CallMessage.Outcome.NOT_LEADER, 0)));
    ByteBuffer header = header(new FrameSeal(), 10, 20);
    assertEquals(
        "0b0100030000000a000000000000004d00000014000001f40000000100000002",
        hex(header, FrameHeader.BYTES - 4));
  }

  private static ByteBuffer header(FrameSeal seal, int bodyBytes, int dataBytes) {
    ByteBuffer out = ByteBuffer.allocate(FrameHeader.BYTES);
    new FrameHeader(MessageType.WRITE, true, false, 3, 77, bodyBytes, dataBytes, 500, 1, 2)
        .put(out, seal);
    return out.flip();
  }

  private static byte[] nines() {
    byte[] nines = new byte[32];
    Arrays.fill(nines, (byte) 9);
    return nines;
  }

  private static String hex(Message message) {
    ByteBuffer out = put(message);
    return hex(out, out.remaining());
  }

  private static String hex(ByteBuffer of, int count) {
    byte[] bytes = new byte[count];
    of.get(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private static ByteBuffer put(Message message) {
    ByteBuffer out = ByteBuffer.allocate(MessageCodec.bytes(message));
    MessageCodec.put(out, message);
    assertEquals(0, out.remaining(), () -> "the length of " + message);
    return out.flip();
  }
}
