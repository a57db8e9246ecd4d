package dev.ashlar.transport.frame;

import dev.ashlar.protocol.wire.Message;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An outbox whose frames become bytes in memory. */
final class FrameBytes implements FrameScheduler.Sink {
  final FrameScheduler outbox = new FrameScheduler(this);
  final AtomicInteger released = new AtomicInteger();

  /** Where each frame ends. */
  final List<Integer> ends = new ArrayList<>();

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private byte[] open = {};
  private int added;

  void add(long request, Message message, byte[] data) {
    OutgoingData outgoing = null;
    if (data.length > 0) {
      added++;
      ByteBuffer direct = ByteBuffer.allocateDirect(data.length).put(data).flip();
      outgoing = new OutgoingData(List.of(direct), released::incrementAndGet);
    }
    outbox.add(new OutgoingMessage(1, request, message, outgoing, 0));
  }

  boolean isAllReleased() {
    return released.get() == added;
  }

  byte[] sent() {
    outbox.pump();
    return bytes.toByteArray();
  }

  @Override
  public boolean hasRoom() {
    return true;
  }

  @Override
  public ByteBuffer open(int count) {
    open = new byte[count];
    return ByteBuffer.wrap(open);
  }

  @Override
  public void close(List<ByteBuffer> pieces, @Nullable OutgoingData data) {
    bytes.writeBytes(open);
    for (ByteBuffer piece : pieces) {
      byte[] copy = new byte[piece.remaining()];
      piece.get(copy);
      bytes.writeBytes(copy);
      if (data != null) {
        data.unpin();
      }
    }
    ends.add(bytes.size());
  }
}
