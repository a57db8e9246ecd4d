package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.OutgoingData;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A change of a drive. Its completion is called only when the caller's memory is no longer used.
 */
final class ChangeCall extends DriveCall {
  private final List<ByteBuffer> payload;
  private final Completion<DriveId> completion;
  private @Nullable ShardException failure;
  private @Nullable DriveId drive;
  private boolean isReleased = true;
  private boolean isTold;

  /**
   * @param payload duplicates, because their positions move
   */
  ChangeCall(
      RemoteShardStore store,
      Request request,
      long deadlineNanos,
      List<ByteBuffer> payload,
      Completion<DriveId> completion) {
    super(store, request, deadlineNanos);
    this.payload = payload;
    this.completion = completion;
  }

  @Override
  @Nullable OutgoingData data() {
    if (payload.isEmpty()) {
      return null;
    }
    isReleased = false;
    return new OutgoingData(payload, this::released);
  }

  private void released() {
    isReleased = true;
    tellIfEnded();
  }

  @Override
  void answered(Reply reply) throws WireFormatException {
    switch (reply) {
      case Reply.Done done -> {
        drive = store().drive(done.incarnation());
        tellIfEnded();
      }
      case Reply.Failed failed -> failed(failed.fault(), failed.why());
      case Reply.Bytes bytes -> throw wrong(reply);
      case Reply.Blobs blobs -> throw wrong(reply);
      case Reply.Attempts attempts -> throw wrong(reply);
    }
  }

  private WireFormatException wrong(Reply reply) {
    return new WireFormatException(request().type() + " is answered with " + reply.type());
  }

  @Override
  void failed(ShardException why) {
    if (failure == null && drive == null) {
      failure = why;
      tellIfEnded();
    }
  }

  private void tellIfEnded() {
    DriveId by = drive;
    ShardException why = failure;
    if (!isReleased || isTold || (by == null && why == null)) {
      return;
    }
    isTold = true;
    leave();
    tell(
        () -> {
          if (by != null) {
            completion.succeeded(by);
          } else if (why != null) {
            completion.failed(why);
          }
        });
  }
}
