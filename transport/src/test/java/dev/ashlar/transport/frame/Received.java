package dev.ashlar.transport.frame;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.MessageCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a reader makes of bytes: messages, and the data of each request put together. */
final class Received implements FrameListener {
  final SlabPool slabs = new SlabPool();
  final FrameReader reader = new FrameReader(this);
  final List<String> messages = new ArrayList<>();
  final Map<Long, ByteArrayOutputStream> data = new TreeMap<>();
  private @Nullable Slab slab;

  /** Bytes that were copied from a buffer into a slab. */
  long copiedBytes;

  @Override
  public @Nullable ReceiveTarget arriving(FrameHeader header, Message message) {
    if (header.dataBytes() == 0) {
      return null;
    }
    Slab target = slabs.acquire(header.dataBytes());
    slab = target;
    return new ReceiveTarget(target, 0);
  }

  @Override
  public void arrived(FrameHeader header, Message message) {
    ByteBuffer body = ByteBuffer.allocate(MessageCodec.bytes(message));
    MessageCodec.put(body, message);
    messages.add(header.request() + " " + message.type() + " " + body.flip().hashCode());
    Slab filled = slab;
    slab = null;
    if (filled != null) {
      byte[] bytes = new byte[header.dataBytes()];
      filled.slice(0, bytes.length).get(bytes);
      data.computeIfAbsent(header.request(), id -> new ByteArrayOutputStream()).writeBytes(bytes);
      filled.release();
    }
  }

  byte[] dataOf(long request) {
    ByteArrayOutputStream bytes = data.get(request);
    return bytes == null ? new byte[0] : bytes.toByteArray();
  }

  /** As a socket does that has so many bytes: into the buffers that the reader asks for. */
  void feedAsSocket(byte[] bytes, int from, int to) throws IOException {
    int at = from;
    while (at < to) {
      ByteBuf buffer = reader.receiveBuffer(UnpooledByteBufAllocator.DEFAULT);
      int count = Math.min(buffer.writableBytes(), to - at);
      if (!(buffer instanceof FrameReader.ReceivedInPlace)) {
        copiedBytes += count;
      }
      buffer.writeBytes(bytes, at, count);
      at += count;
      read(buffer);
    }
  }

  /** As TLS does. */
  void feedDecrypted(byte[] bytes, int from, int to) throws IOException {
    read(Unpooled.copiedBuffer(bytes, from, to - from));
  }

  private void read(ByteBuf buffer) throws IOException {
    try {
      reader.read(buffer);
    } finally {
      buffer.release();
    }
  }

  void close() {
    reader.close();
    Slab partly = slab;
    slab = null;
    if (partly != null) {
      partly.release();
    }
  }
}
