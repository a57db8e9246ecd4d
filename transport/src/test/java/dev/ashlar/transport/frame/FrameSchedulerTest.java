package dev.ashlar.transport.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.FrameSeal;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who is sent before whom, told by counting what leaves. */
class FrameSchedulerTest implements FrameScheduler.Sink {
  private static final int LONG = 4 << 20;

  private final FrameScheduler outbox = new FrameScheduler(this);
  private final FrameSeal seal = new FrameSeal();
  private final List<FrameHeader> sent = new ArrayList<>();
  private final AtomicInteger released = new AtomicInteger();
  private @Nullable ByteBuffer open;
  private int room;

  @Test
  void aShortMessageWaitsForNoLongOne() {
    addLong(1);
    addLong(2);
    send(3);
    outbox.add(new OutgoingMessage(0, 9, new Signal.Ping(), null, 0));
    send(1);
    assertEquals(9, sent.getLast().request(), "the very next frame");
  }

  @Test
  void shortDataWaitsForNoLongData() {
    addLong(1);
    send(1);
    add(2, FrameScheduler.SHORT_BYTES_MAX);
    send(1);
    assertEquals(2, sent.getLast().request());
    assertEquals(FrameScheduler.SHORT_BYTES_MAX, sent.getLast().dataBytes());
  }

  @Test
  void longDataTakesTurns() {
    addLong(1);
    addLong(2);
    addLong(3);
    send(30);
    for (int i = 0; i < 30; i++) {
      assertEquals(1 + i % 3, sent.get(i).request());
      assertEquals(Wire.CHUNK_BYTES_MAX, sent.get(i).dataBytes());
    }
  }

  /** However many short ones come, one long piece goes after each burst of them. */
  @Test
  void longDataIsNotStarvedEither() {
    addLong(1);
    int shorts = 0;
    for (int i = 0; i < 2000; i++) {
      add(100 + i, 4096);
      send(1);
      shorts += sent.getLast().request() == 1 ? 0 : sent.getLast().dataBytes();
    }
    long pieces = sent.stream().filter(header -> header.request() == 1).count();
    long expected = shorts / (FrameScheduler.BURST_BYTES + 2 * 4096);
    assertTrue(pieces >= expected && expected > 20, () -> pieces + " pieces, not " + expected);
  }

  @Test
  void cancelledDataIsReleasedUnsent() {
    OutgoingMessage unsent = addLong(1);
    OutgoingMessage begun = addLong(2);
    unsent.cancel();
    send(1);
    assertTrue(begun.isBegun());
    assertFalse(unsent.isBegun());
    assertTrue(unsent.isEnded());
    assertEquals(1, released.get());
    begun.cancel();
    send(1);
    assertEquals(2, released.get());
    assertEquals(1, sent.size());
  }

  @Test
  void closingReleasesAllData() {
    addLong(1);
    add(2, 10);
    addLong(3);
    send(2);
    outbox.close();
    assertEquals(3, released.get());
  }

  private OutgoingMessage addLong(long request) {
    return add(request, LONG);
  }

  private OutgoingMessage add(long request, int bytes) {
    ByteBuffer data = ByteBuffer.allocateDirect(bytes);
    OutgoingData outgoing = new OutgoingData(List.of(data), released::incrementAndGet);
    OutgoingMessage added = new OutgoingMessage(0, request, new Reply.Bytes(bytes), outgoing, 0);
    outbox.add(added);
    return added;
  }

  private void send(int frames) {
    room = frames;
    outbox.pump();
  }

  @Override
  public boolean hasRoom() {
    return room > 0;
  }

  @Override
  public ByteBuffer open(int bytes) {
    ByteBuffer buffer = ByteBuffer.allocate(bytes);
    open = buffer;
    return buffer;
  }

  @Override
  public void close(List<ByteBuffer> pieces, @Nullable OutgoingData data) {
    room--;
    ByteBuffer frame = assertNotNullAnd(open);
    try {
      sent.add(
          FrameHeader.take(frame.position(0), seal, Wire.BODY_BYTES_MAX, Wire.CHUNK_BYTES_MAX));
    } catch (WireFormatException e) {
      throw new AssertionError(e);
    }
    for (ByteBuffer piece : pieces) {
      assertTrue(piece.isDirect());
      if (data != null) {
        data.unpin();
      }
    }
  }

  private static ByteBuffer assertNotNullAnd(@Nullable ByteBuffer frame) {
    assertNotNull(frame);
    return frame == null ? ByteBuffer.allocate(0) : frame;
  }
}
