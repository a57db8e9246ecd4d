package dev.ashlar.transport.frame;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.MessageType;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.protocol.wire.WireSamples;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class FrameReaderTest {
  private static final List<MessageType> TYPES = List.of(MessageType.values());

  /** However the bytes are cut, and whichever way they come. */
  @Property(tries = 60)
  void framesAreReadHoweverTheyAreCut(@ForAll long seed, @ForAll boolean isSocket)
      throws Exception {
    Random random = new Random(seed);
    FrameBytes out = new FrameBytes();
    Map<Long, byte[]> sent = new TreeMap<>();
    for (long request = 1; request <= 12; request++) {
      MessageType type = TYPES.get(random.nextInt(TYPES.size()));
      byte[] data = bytes(random, random.nextInt(3) * random.nextInt(200_000));
      if (data.length > 0) {
        sent.put(request, data);
      }
      out.add(request, new WireSamples(random).message(type), data);
    }
    byte[] bytes = out.sent();
    Received in = new Received();
    in.reader.establish(0);
    int at = 0;
    while (at < bytes.length) {
      int step = 1 + random.nextInt(random.nextBoolean() ? 50 : 50_000);
      int to = Math.min(bytes.length, at + step);
      if (isSocket) {
        in.feedAsSocket(bytes, at, to);
      } else {
        in.feedDecrypted(bytes, at, to);
      }
      at = to;
    }
    assertEquals(out.ends.size(), in.messages.size());
    assertEquals(sent.keySet(), in.data.keySet());
    sent.forEach((id, each) -> assertArrayEquals(each, in.dataOf(id)));
    assertTrue(out.isAllReleased());
    assertEquals(0, in.slabs.lentBytes());
  }

  /** One byte wrong anywhere: nothing wrong is ever handed on. */
  @Test
  void everyFlippedBitIsDetected() {
    FrameBytes out = new FrameBytes();
    out.add(1, new Reply.Bytes(300), bytes(new Random(1), 300));
    out.add(2, new Reply.Done(9), new byte[0]);
    byte[] good = out.sent();
    for (int at = 0; at < good.length; at++) {
      byte[] bad = good.clone();
      bad[at] ^= (byte) (1 << at % 8);
      Received in = new Received();
      in.reader.establish(0);
      assertThrows(
          WireFormatException.class, () -> in.feedAsSocket(bad, 0, bad.length), "at " + at);
      int intact = (int) out.ends.stream().filter(end -> end <= damaged(bad, good)).count();
      assertEquals(intact, in.messages.size(), "at " + at);
      in.close();
      assertEquals(0, in.slabs.lentBytes());
    }
  }

  private static int damaged(byte[] bad, byte[] good) {
    return Arrays.mismatch(bad, good);
  }

  @Test
  void aConnectionCutAnywhereLeaksNoSlab() throws Exception {
    FrameBytes out = new FrameBytes();
    out.add(1, new Reply.Bytes(5000), bytes(new Random(1), 5000));
    out.add(2, new Reply.Done(9), new byte[0]);
    byte[] bytes = out.sent();
    for (int end = 0; end <= bytes.length; end++) {
      Received in = new Received();
      in.reader.establish(0);
      in.feedAsSocket(bytes, 0, end);
      in.close();
      assertEquals(0, in.slabs.lentBytes(), "cut at " + end);
    }
  }

  @Test
  void beforeTheHandshakeFramesAreShort() {
    FrameBytes data = new FrameBytes();
    data.add(1, new Signal.Data(), new byte[1]);
    assertThrows(IOException.class, () -> new Received().feedAsSocket(data.sent(), 0, 37));
    FrameBytes body = new FrameBytes();
    body.add(1, new Reply.Blobs(Collections.nCopies(1000, new BlobId(1, 1))), new byte[0]);
    assertThrows(IOException.class, () -> new Received().feedAsSocket(body.sent(), 0, 40));
  }

  /** Long data goes where it belongs; only what comes with headers is copied. */
  @Test
  void longDataIsReceivedInPlace() throws Exception {
    Received in = new Received();
    in.reader.establish(0);
    FrameBytes small = new FrameBytes();
    small.add(1, new Reply.Bytes(4096), new byte[4096]);
    byte[] one = small.sent();
    in.feedAsSocket(one, 0, one.length);
    assertEquals(FrameHeader.BYTES + 4 + 4096, in.copiedBytes, "4 KiB come with their header");
    FrameBytes large = new FrameBytes();
    large.add(1, new Reply.Bytes(4 << 20), new byte[4 << 20]);
    byte[] four = large.sent();
    Received other = new Received();
    other.reader.establish(0);
    other.feedAsSocket(four, 0, four.length);
    int frames = (4 << 20) / Wire.CHUNK_BYTES_MAX;
    assertEquals(frames, large.ends.size());
    assertTrue(
        other.copiedBytes <= FrameReader.READ_BYTES + frames * 256L,
        () -> other.copiedBytes + " bytes of 4 MiB copied");
  }

  private static byte[] bytes(Random random, int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }
}
