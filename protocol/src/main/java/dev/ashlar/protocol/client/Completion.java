package dev.ashlar.protocol.client;

/**
 * Told once how an operation on a drive ended, on a thread of the drive. It must neither block nor
 * throw.
 */
public interface Completion<T> {
  void succeeded(T result);

  void failed(ShardException failure);
}
