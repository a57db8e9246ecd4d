package dev.ashlar.bench.codec;

import java.io.IOException;

/** Something that encodes and decodes. */
interface CodecPlugin extends AutoCloseable {
  /** As in the table. */
  String name();

  boolean does(CodecTask.Workload workload);

  /** Bytes of each shard when k of them hold so much data. */
  int shardBytes(CodeShape shape, int size);

  /**
   * Checks that the result is right, warms up, and does it.
   *
   * @return the seconds of CPU time that the iterations took: on a machine that does nothing else
   *     as long as by the clock, and on a busy one not longer
   */
  double run(CodecTask task) throws IOException, InterruptedException;

  @Override
  default void close() throws IOException {}
}
