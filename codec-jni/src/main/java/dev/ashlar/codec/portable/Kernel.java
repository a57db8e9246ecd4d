package dev.ashlar.codec.portable;

/** What can multiply shards by matrices. */
public interface Kernel {
  String name();

  /** Prepares a matrix with one row per target and one column per source. */
  LinearMap prepare(byte[][] rows);
}
