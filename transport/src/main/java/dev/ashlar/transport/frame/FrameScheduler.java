package dev.ashlar.transport.frame;

import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.FrameSeal;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.MessageCodec;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Orders the messages to be sent on one connection. Frames are built only when the channel has
 * room, so that a short message waits for no more than the channel holds. Long data is cut into
 * pieces. Short messages go first, except that one piece of long data follows each {@link
 * #BURST_BYTES} of them. Messages with long data take turns. Used on the event loop.
 */
final class FrameScheduler {
  /** A message with at most this much data counts as short and is sent in one frame. */
  static final int SHORT_BYTES_MAX = 16 << 10;

  static final int BURST_BYTES = 256 << 10;

  /** Reached only if the peer does not read. */
  private static final int WAITING_MAX = 1 << 17;

  private static final Signal.Data MORE = new Signal.Data();

  private final Sink sink;
  private final FrameSeal seal = new FrameSeal();
  private final CRC32C crc = new CRC32C();
  private final ArrayDeque<OutgoingMessage> shorts = new ArrayDeque<>();
  private final ArrayDeque<OutgoingMessage> longs = new ArrayDeque<>();
  private int burst;

  /** Accepts frames: a channel. */
  interface Sink {
    boolean hasRoom();

    /** Returns a buffer of this size for the header and the body. */
    ByteBuffer open(int bytes);

    /**
     * Sends the opened buffer, and the data behind it.
     *
     * @param data to be unpinned once per piece that was sent or has failed
     */
    void close(List<ByteBuffer> pieces, @Nullable OutgoingData data);
  }

  FrameScheduler(Sink sink) {
    this.sink = sink;
  }

  void salt(long salt) {
    seal.salt(salt);
  }

  /** Queues the message; false if too many wait. */
  boolean add(OutgoingMessage outgoing) {
    OutgoingData data = outgoing.data;
    boolean isShort = data == null || data.left() <= SHORT_BYTES_MAX;
    (isShort ? shorts : longs).add(outgoing);
    return shorts.size() + longs.size() <= WAITING_MAX;
  }

  /** Sends as much as the channel has room for; false if nothing was sent. */
  boolean pump() {
    boolean hasSent = false;
    while (sink.hasRoom()) {
      OutgoingMessage next = next();
      if (next == null) {
        break;
      }
      hasSent = true;
      send(next);
    }
    return hasSent;
  }

  private @Nullable OutgoingMessage next() {
    dropCancelled(shorts);
    dropCancelled(longs);
    boolean isTurnOfLong = shorts.isEmpty() || burst >= BURST_BYTES;
    if (isTurnOfLong) {
      burst = 0;
    }
    return isTurnOfLong && !longs.isEmpty() ? longs.poll() : shorts.poll();
  }

  private static void dropCancelled(ArrayDeque<OutgoingMessage> queue) {
    for (OutgoingMessage first = queue.peek();
        first != null && first.isCancelled();
        first = queue.peek()) {
      queue.remove();
      first.end();
    }
  }

  private void send(OutgoingMessage outgoing) {
    OutgoingData data = outgoing.data;
    int before = data == null ? 0 : data.left();
    try {
      emit(outgoing);
    } catch (RuntimeException | Error e) {
      outgoing.end();
      throw e;
    }
    outgoing.begin();
    if (data != null && data.left() > 0) {
      longs.add(outgoing);
    } else {
      outgoing.end();
    }
    if (before <= SHORT_BYTES_MAX) {
      burst += FrameHeader.BYTES + before;
    }
  }

  private void emit(OutgoingMessage outgoing) {
    Message message = outgoing.isBegun() ? MORE : outgoing.message;
    OutgoingData data = outgoing.data;
    TraceContext trace = outgoing.isBegun() ? null : outgoing.trace();
    int bodyBytes = MessageCodec.bytes(message) + (trace == null ? 0 : TraceContext.BYTES);
    // What may fail comes first: once taken, the pieces belong to the channel.
    ByteBuffer out = sink.open(FrameHeader.BYTES + bodyBytes);
    List<ByteBuffer> pieces = data == null ? List.of() : data.take(Wire.CHUNK_BYTES_MAX);
    boolean isLast = data == null || data.left() == 0;
    int dataBytes = 0;
    crc.reset();
    for (ByteBuffer piece : pieces) {
      dataBytes += piece.remaining();
      crc.update(piece.duplicate());
    }
    int dataCrc = (int) crc.getValue();
    int start = out.position();
    out.position(start + FrameHeader.BYTES);
    MessageCodec.put(out, message);
    if (trace != null) {
      trace.put(out);
    }
    crc.reset();
    crc.update(out.slice(start + FrameHeader.BYTES, bodyBytes));
    out.position(start);
    new FrameHeader(
            message.type(),
            isLast,
            trace != null,
            outgoing.drive,
            outgoing.request,
            bodyBytes,
            dataBytes,
            timeoutMillis(outgoing),
            (int) crc.getValue(),
            dataCrc)
        .put(out, seal);
    sink.close(pieces, data);
  }

  private static int timeoutMillis(OutgoingMessage outgoing) {
    if (outgoing.deadlineNanos == 0) {
      return 0;
    }
    long left = outgoing.deadlineNanos - System.nanoTime();
    return Math.clamp(TimeUnit.NANOSECONDS.toMillis(left), 1, Integer.MAX_VALUE);
  }

  /** Releases the memory of all waiting messages; nothing more is sent. */
  void close() {
    shorts.forEach(OutgoingMessage::end);
    shorts.clear();
    longs.forEach(OutgoingMessage::end);
    longs.clear();
  }

  /** Writes each frame as one small buffer, and its data without a copy. */
  // A write that fails ends the channel.
  @SuppressWarnings("FutureReturnValueIgnored")
  static final class ChannelSink implements Sink {
    private static final int FLUSH_BYTES = 128 << 10;

    private final Supplier<ChannelHandlerContext> context;
    private @Nullable ByteBuf open;
    private int unflushedBytes;

    ChannelSink(Supplier<ChannelHandlerContext> context) {
      this.context = context;
    }

    @Override
    public boolean hasRoom() {
      return context.get().channel().isWritable();
    }

    @Override
    public ByteBuffer open(int bytes) {
      ByteBuf buffer = context.get().alloc().directBuffer(bytes, bytes);
      open = buffer;
      buffer.writerIndex(bytes);
      return buffer.nioBuffer(0, bytes);
    }

    @Override
    public void close(List<ByteBuffer> pieces, @Nullable OutgoingData data) {
      ChannelHandlerContext ctx = context.get();
      if (open != null) {
        unflushedBytes += open.readableBytes();
        ctx.write(open, ctx.voidPromise());
        open = null;
      }
      for (ByteBuffer piece : pieces) {
        unflushedBytes += piece.remaining();
        ctx.write(Unpooled.wrappedBuffer(piece)).addListener(sent -> unpin(data));
      }
      if (unflushedBytes >= FLUSH_BYTES) {
        // With TLS, only flushed bytes count towards the channel's write limit.
        flush();
      }
    }

    void flush() {
      unflushedBytes = 0;
      context.get().flush();
    }

    private static void unpin(@Nullable OutgoingData data) {
      if (data != null) {
        data.unpin();
      }
    }
  }
}
