package dev.ashlar.transport.frame;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.FrameSeal;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.MessageCodec;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledUnsafeDirectByteBuf;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Parses received bytes into frames. Headers and bodies are parsed in place unless a read ended
 * within one. The kernel writes data directly into its slab, except what a read for headers brought
 * along: at most {@link #READ_BYTES}, and very little after a long piece of data.
 */
final class FrameReader {
  /** Small frames arrive many at a time: copying some KiB costs less than another system call. */
  static final int READ_BYTES = 8 << 10;

  /** After long data more of it follows; as little as possible of that shall be copied. */
  private static final int READ_BYTES_BETWEEN_DATA = 256;

  private final FrameListener target;
  private final FrameSeal seal = new FrameSeal();
  private final CRC32C crc = new CRC32C();
  private int bodyBytesMax = Wire.HANDSHAKE_BYTES_MAX;
  private int dataBytesMax;
  // The beginning of a header or body whose end has not arrived.
  private ByteBuffer cut = ByteBuffer.allocate(FrameHeader.BYTES);
  private @Nullable FrameHeader header;
  private @Nullable Message message;
  private @Nullable TraceContext trace;
  private @Nullable ReceiveTarget landing;
  private int dataLeft;
  private boolean isClosed;

  FrameReader(FrameListener target) {
    this.target = target;
  }

  /** From the next frame on, the peer's frames are salted and may have full length. */
  void establish(long salt) {
    seal.salt(salt);
    bodyBytesMax = Wire.BODY_BYTES_MAX;
    dataBytesMax = Wire.CHUNK_BYTES_MAX;
  }

  /** The buffer for the next read of the socket. */
  ByteBuf receiveBuffer(ByteBufAllocator allocator) {
    ReceiveTarget at = landing;
    if (at != null && !isClosed) {
      return new ReceivedInPlace(allocator, at.slab(), dataOffset(at), dataLeft);
    }
    FrameHeader last = header;
    boolean isBetweenData = last != null && !last.isLast() && last.dataBytes() > READ_BYTES;
    return allocator.directBuffer(isBetweenData ? READ_BYTES_BETWEEN_DATA : READ_BYTES);
  }

  private int dataOffset(ReceiveTarget at) {
    return at.offset() + header().dataBytes() - dataLeft;
  }

  /** Consumes all bytes of the buffer; the caller releases it. */
  void read(ByteBuf in) throws IOException {
    if (in instanceof ReceivedInPlace) {
      dataLeft -= in.readableBytes();
      endData();
      return;
    }
    ByteBuffer bytes = in.nioBuffer();
    while (bytes.hasRemaining() && !isClosed) {
      if (dataLeft > 0) {
        takeData(bytes);
      } else {
        takeStructure(bytes);
      }
    }
  }

  private void takeData(ByteBuffer bytes) throws IOException {
    int count = Math.min(bytes.remaining(), dataLeft);
    ReceiveTarget at = landing;
    if (at != null) {
      at.slab().slice(dataOffset(at), count).put(bytes.slice(bytes.position(), count));
    }
    bytes.position(bytes.position() + count);
    dataLeft -= count;
    endData();
  }

  private void takeStructure(ByteBuffer bytes) throws IOException {
    int needed = message == null && header != null ? header.bodyBytes() : FrameHeader.BYTES;
    if (cut.position() == 0 && bytes.remaining() >= needed) {
      ByteBuffer whole = bytes.slice(bytes.position(), needed);
      bytes.position(bytes.position() + needed);
      takeWhole(whole);
      return;
    }
    if (cut.capacity() < needed) {
      cut = ByteBuffer.allocate(needed).put(cut.flip());
    }
    int count = Math.min(bytes.remaining(), needed - cut.position());
    cut.put(bytes.slice(bytes.position(), count));
    bytes.position(bytes.position() + count);
    if (cut.position() == needed) {
      takeWhole(cut.flip());
      cut.clear();
    }
  }

  private void takeWhole(ByteBuffer whole) throws IOException {
    FrameHeader known = header;
    if (known == null || message != null) {
      message = null;
      header = FrameHeader.take(whole, seal, bodyBytesMax, dataBytesMax);
      if (header.bodyBytes() == 0) {
        takeBody(header, whole);
      }
    } else {
      takeBody(known, whole);
    }
  }

  private void takeBody(FrameHeader of, ByteBuffer body) throws IOException {
    crc.reset();
    crc.update(body.duplicate());
    if ((int) crc.getValue() != of.bodyCrc()) {
      throw new WireFormatException(of.type() + ": checksum mismatch in its body");
    }
    trace = of.isTraced() ? takeTrace(of, body) : null;
    Message parsed = MessageCodec.take(of.type(), body);
    message = parsed;
    ReceiveTarget at = target.arriving(of, parsed);
    dataLeft = of.dataBytes();
    if (dataLeft == 0) {
      target.arrived(of, parsed);
    } else if (at != null && !isClosed) {
      at.slab().retain();
      landing = at;
    }
  }

  private static TraceContext takeTrace(FrameHeader of, ByteBuffer body)
      throws WireFormatException {
    try {
      return TraceContext.takeFromEnd(body);
    } catch (IllegalArgumentException e) {
      throw new WireFormatException(of.type() + ": " + e.getMessage());
    }
  }

  /** The trace of the request that is arriving; null: it has none. */
  @Nullable TraceContext trace() {
    return trace;
  }

  private void endData() throws IOException {
    if (dataLeft > 0) {
      return;
    }
    FrameHeader of = header();
    Message parsed = message;
    ReceiveTarget at = landing;
    if (parsed == null) {
      throw new IllegalStateException("data without a message");
    }
    if (at != null) {
      crc.reset();
      crc.update(at.slab().slice(at.offset(), of.dataBytes()));
      boolean matches = (int) crc.getValue() == of.dataCrc();
      leave();
      if (!matches) {
        throw new WireFormatException(of.type() + ": checksum mismatch in its data");
      }
    }
    target.arrived(of, parsed);
  }

  private void leave() {
    ReceiveTarget at = landing;
    landing = null;
    if (at != null) {
      at.slab().release();
    }
  }

  private FrameHeader header() {
    FrameHeader known = header;
    if (known == null) {
      throw new IllegalStateException("no frame is being read");
    }
    return known;
  }

  /** Discards everything that arrives from now on. */
  void close() {
    isClosed = true;
    leave();
  }

  /** Lets the kernel write data directly into its slab, and everything else into small buffers. */
  static final class ReceiveBuffers extends DefaultMaxMessagesRecvByteBufAllocator {
    /** Reads of one socket before other connections get their turn. */
    private static final int READS_MAX = 32;

    private final FrameReader reader;

    ReceiveBuffers(FrameReader reader) {
      super(READS_MAX);
      this.reader = reader;
    }

    @Override
    public ExtendedHandle newHandle() {
      return new MaxMessageHandle() {
        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
          return reader.receiveBuffer(allocator);
        }

        @Override
        public int guess() {
          return FrameReader.READ_BYTES;
        }
      };
    }
  }

  /** A part of a slab that the kernel writes received data into. */
  static final class ReceivedInPlace extends UnpooledUnsafeDirectByteBuf {
    private final Slab slab;

    ReceivedInPlace(ByteBufAllocator allocator, Slab slab, int offset, int length) {
      super(allocator, slab.slice(offset, length), length);
      this.slab = slab.retain();
      clear();
    }

    @Override
    protected void deallocate() {
      super.deallocate();
      slab.release();
    }
  }
}
