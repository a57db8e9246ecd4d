package dev.ashlar.storage.drive.index;

import java.io.IOException;
import java.util.Random;

/** An index that a test can crash. */
public interface SimulatedIndex {
  /** The index of now; another one after each crash. */
  ShardIndex index();

  /** What a power loss leaves: the last checkpoint, perhaps with some of the commits after it. */
  void crash(Random random) throws IOException;

  /** The whole index is lost. */
  void lose() throws IOException;
}
