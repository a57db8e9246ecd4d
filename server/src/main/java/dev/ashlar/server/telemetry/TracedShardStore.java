package dev.ashlar.server.telemetry;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.Span;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.trace.Tracer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A drive whose reads and writes for traced requests have spans. What runs in the background
 * belongs to no request.
 */
record TracedShardStore(ShardStore store, Tracer tracer, Tracer.Kind kind) implements ShardStore {
  private <T> void trace(
      String name, long bytes, Completion<T> completion, Consumer<Completion<T>> operation) {
    TraceContext parent = CurrentSpan.parent();
    if (parent == null) {
      operation.accept(completion);
      return;
    }
    Span span = begin(name, bytes, parent);
    Span before = CurrentSpan.set(span);
    try {
      operation.accept(
          Completion.of(
              result -> {
                span.end();
                completion.succeeded(result);
              },
              failure -> {
                span.failed(failure.fault().name());
                span.end();
                completion.failed(failure);
              }));
    } finally {
      CurrentSpan.set(before);
    }
  }

  private Span begin(String name, long bytes, TraceContext parent) {
    Span span = tracer.begin(name, kind, parent);
    span.add("ashlar.drive", store.drive().id().toString());
    span.add("ashlar.bytes", bytes);
    return span;
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    trace(
        "drive write",
        write.payload().remaining(),
        completion,
        traced -> store.write(write, traced));
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    trace(
        "drive read",
        length,
        completion,
        traced -> store.read(shard, view, offset, length, traced));
  }

  @Override
  public @Nullable ShardData readCached(ShardId shard, ShardView view, long offset, int length) {
    TraceContext parent = CurrentSpan.parent();
    if (parent == null || kind == Tracer.Kind.CLIENT) { // nothing of another process is in memory
      return store.readCached(shard, view, offset, length);
    }
    Span span = begin("drive read", length, parent);
    ShardData data = store.readCached(shard, view, offset, length);
    if (data != null) {
      span.end();
    }
    return data;
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    long bytes =
        switch (intent) {
          case ShardIntent.Bytes some -> some.payload().remaining();
          case ShardIntent.Deltas deltas ->
              deltas.deltas().stream().mapToLong(delta -> delta.bytes().remaining()).sum();
        };
    trace("drive prepare", bytes, completion, traced -> store.prepare(intent, traced));
  }

  @Override
  public DriveId drive() {
    return store.drive();
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    return store.writeRefusal();
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    store.fold(folds, completion);
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    store.drop(drops, completion);
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    store.delete(blobs, completion);
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    return store.blobsBelow(session, after, max);
  }

  @Override
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException {
    return store.attemptsBelow(session, after, max);
  }
}
