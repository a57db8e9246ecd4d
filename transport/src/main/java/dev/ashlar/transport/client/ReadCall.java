package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.ReceiveTarget;
import org.jspecify.annotations.Nullable;

/** A read of a shard into a slab that is handed to the caller. */
final class ReadCall extends DriveCall {
  private final int length;
  private final SlabPool slabs;
  private final Completion<ShardData> completion;
  private @Nullable Slab slab;
  private int announced;
  private boolean isEnded;

  ReadCall(
      RemoteShardStore store,
      Request.Read request,
      long deadlineNanos,
      SlabPool slabs,
      Completion<ShardData> completion) {
    super(store, request, deadlineNanos);
    this.length = request.length();
    this.slabs = slabs;
    this.completion = completion;
  }

  @Override
  @Nullable ReceiveTarget target(int answerLength, FrameHeader header) throws WireFormatException {
    int at = announced;
    boolean isWhole = header.isLast() == (at + header.dataBytes() == length);
    if (answerLength != length || header.dataBytes() < 1 || !isWhole) {
      throw new WireFormatException(
          "a read of " + length + " is answered with " + header.dataBytes() + " at " + at);
    }
    announced += header.dataBytes();
    if (isEnded) {
      return null;
    }
    Slab target = slab == null ? slabs.acquire(length) : slab;
    slab = target;
    return new ReceiveTarget(target, at);
  }

  @Override
  void answered(Reply reply) throws WireFormatException {
    if (reply instanceof Reply.Failed failed) {
      failed(failed.fault(), failed.why());
      return;
    }
    if (!(reply instanceof Reply.Bytes) || announced != length) {
      throw new WireFormatException("a read is answered with " + reply.type());
    }
    Slab filled = slab;
    slab = null;
    if (!isEnded && filled != null) {
      end();
      tell(() -> completion.succeeded(new ShardData(filled, filled.slice(0, length))));
    }
  }

  @Override
  void failed(ShardException failure) {
    Slab partly = slab;
    slab = null;
    if (partly != null) {
      partly.release();
    }
    if (!isEnded) {
      end();
      tell(() -> completion.failed(failure));
    }
  }

  private void end() {
    isEnded = true;
    leave();
  }
}
