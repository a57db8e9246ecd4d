package dev.ashlar.blob.read;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A drive whose answers to reads come when a test wants them. */
final class HeldReads extends ForwardingShardStore {
  private final Queue<Runnable> held = new ConcurrentLinkedQueue<>();
  private volatile Consumer<Runnable> answers = Runnable::run;
  volatile @Nullable ShardFault fault;
  volatile boolean isScrambling;

  HeldReads(ShardStore drive) {
    super(drive);
  }

  void hold() {
    answers = held::add;
  }

  /** Answers that are held. */
  int held() {
    return held.size();
  }

  /** From now on answers are given to this. */
  void answerBy(Consumer<Runnable> newAnswers) {
    answers = newAnswers;
  }

  /** Answers, on this thread, what was held, and ends the holding. */
  void release() {
    answers = Runnable::run;
    for (Runnable answer = held.poll(); answer != null; answer = held.poll()) {
      answer.run();
    }
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    Consumer<Runnable> now = answers;
    super.read(
        shard,
        view,
        offset,
        length,
        new Completion<>() {
          @Override
          public void succeeded(ShardData data) {
            now.accept(() -> answer(data, completion));
          }

          @Override
          public void failed(ShardException failure) {
            now.accept(() -> completion.failed(failure));
          }
        });
  }

  private void answer(ShardData data, Completion<ShardData> completion) {
    ShardFault failure = fault;
    if (failure != null) {
      data.release();
      completion.failed(new ShardException(failure, "was told to fail"));
      return;
    }
    ByteBuffer bytes = data.bytes();
    for (int i = bytes.position(); isScrambling && i < bytes.limit(); i++) {
      bytes.put(i, (byte) ~bytes.get(i));
    }
    completion.succeeded(data);
  }
}
