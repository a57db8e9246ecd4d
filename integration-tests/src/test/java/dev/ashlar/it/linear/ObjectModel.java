package dev.ashlar.it.linear;

import dev.ashlar.it.linear.ObjectCall.Append;
import dev.ashlar.it.linear.ObjectCall.Delete;
import dev.ashlar.it.linear.ObjectCall.Get;
import dev.ashlar.it.linear.ObjectCall.Patch;
import dev.ashlar.it.linear.ObjectCall.Put;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One key: its bytes, or nothing. */
final class ObjectModel implements SequentialModel<Optional<ByteBuffer>, ObjectCall, ObjectReply> {
  @Override
  public Optional<ByteBuffer> initial() {
    return Optional.empty();
  }

  @Override
  public Optional<Optional<ByteBuffer>> after(
      Optional<ByteBuffer> state, ObjectCall call, @Nullable ObjectReply reply) {
    return switch (call) {
      case Put put -> if200(reply, Optional.of(ByteBuffer.wrap(put.bytes())));
      case Delete delete -> answered(reply, "204") ? Optional.of(Optional.empty()) : nothing();
      case Get get -> read(state, reply);
      case Append append -> append(state, append, reply);
      case Patch patch -> patch(state, patch, reply);
    };
  }

  private static Optional<Optional<ByteBuffer>> nothing() {
    return Optional.empty();
  }

  private static boolean answered(@Nullable ObjectReply reply, String what) {
    return reply == null || reply.what().equals(what);
  }

  private static Optional<Optional<ByteBuffer>> if200(
      @Nullable ObjectReply reply, Optional<ByteBuffer> after) {
    return answered(reply, ObjectReply.OK) ? Optional.of(after) : nothing();
  }

  private static Optional<Optional<ByteBuffer>> read(
      Optional<ByteBuffer> state, @Nullable ObjectReply reply) {
    boolean holds =
        reply == null
            || (state.isEmpty()
                ? reply.what().equals("404 NoSuchKey")
                : reply.what().equals(ObjectReply.OK) && reply.body().equals(state.get()));
    return holds ? Optional.of(state) : nothing();
  }

  private static Optional<Optional<ByteBuffer>> append(
      Optional<ByteBuffer> state, Append append, @Nullable ObjectReply reply) {
    if (reply != null && reply.what().equals("409 ConditionalRequestConflict")) {
      return Optional.of(state);
    }
    if (state.map(ByteBuffer::remaining).orElse(0) == append.offset()) {
      return if200(reply, changed(state, append.offset(), append.bytes()));
    }
    return answered(reply, "400 InvalidWriteOffset") ? Optional.of(state) : nothing();
  }

  private static Optional<Optional<ByteBuffer>> patch(
      Optional<ByteBuffer> state, Patch patch, @Nullable ObjectReply reply) {
    if (reply != null && reply.what().equals("409 ConcurrentUpdatesPatchConflict")) {
      return Optional.of(state);
    }
    if (state.isEmpty()) {
      return answered(reply, "404 NoSuchKey") ? Optional.of(state) : nothing();
    }
    if (patch.offset() > state.get().remaining()) {
      return answered(reply, "416 InvalidRange") ? Optional.of(state) : nothing();
    }
    return if200(reply, changed(state, patch.offset(), patch.bytes()));
  }

  private static Optional<ByteBuffer> changed(
      Optional<ByteBuffer> state, int offset, byte[] bytes) {
    ByteBuffer before = state.orElse(ByteBuffer.allocate(0));
    int size = Math.max(before.remaining(), offset + bytes.length);
    return Optional.of(
        ByteBuffer.allocate(size).put(before.duplicate()).put(offset, bytes).clear());
  }
}
