package dev.ashlar.protocol.client;

/**
 * Called once when an operation on a drive has ended, on a thread of the drive. It must neither
 * block nor throw.
 */
public interface Completion<T> {
  void succeeded(T result);

  void failed(ShardException failure);
}
