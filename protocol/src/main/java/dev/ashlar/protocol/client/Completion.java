package dev.ashlar.protocol.client;

import java.util.function.Consumer;

/**
 * Called once when an operation on a drive has ended, on a thread of the drive. It must neither
 * block nor throw.
 */
public interface Completion<T> {
  void succeeded(T result);

  void failed(ShardException failure);

  static <T> Completion<T> of(Consumer<? super T> succeeded, Consumer<ShardException> failed) {
    return new Completion<>() {
      @Override
      public void succeeded(T result) {
        succeeded.accept(result);
      }

      @Override
      public void failed(ShardException failure) {
        failed.accept(failure);
      }
    };
  }
}
