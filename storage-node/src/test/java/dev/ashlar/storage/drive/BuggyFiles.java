package dev.ashlar.storage.drive;

import dev.ashlar.storage.io.ForwardingFile;
import dev.ashlar.storage.io.ForwardingFiles;
import dev.ashlar.storage.io.RawFile;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Files as a drive's engine with a planted bug uses them. */
final class BuggyFiles extends ForwardingFiles {
  private static final int TRIES = 2 * 20;

  private final Bug bug;

  /** What the simulation has to find. */
  enum Bug {
    NONE(DriveSimulation.Fault.NONE),
    /** A file counts as durable by its name at once. */
    SKIPS_DIRECTORY_SYNCS(DriveSimulation.Fault.NONE),
    /** A directory that could not be synced counts as synced. */
    IGNORES_FAILED_DIRECTORY_SYNCS(DriveSimulation.Fault.NAME_ERROR),
    /** A sync that failed is tried again until it succeeds, and believed. */
    SYNCS_AGAIN(DriveSimulation.Fault.LASTING_ERROR),
    /** A write that failed counts as done. */
    IGNORES_FAILED_WRITES(DriveSimulation.Fault.WRITE_ERROR);

    private final DriveSimulation.Fault fault;

    Bug(DriveSimulation.Fault fault) {
      this.fault = fault;
    }

    /** With which it is to be found. */
    DriveSimulation.Fault fault() {
      return fault;
    }

    RawFiles in(RawFiles files) {
      return this == NONE ? files : new BuggyFiles(files, this);
    }
  }

  private BuggyFiles(RawFiles files, Bug bug) {
    super(files);
    this.bug = bug;
  }

  private interface Call {
    void run() throws IOException;
  }

  private void unless(Bug ignoring, Call call) throws IOException {
    try {
      call.run();
    } catch (IOException e) {
      if (bug != ignoring) {
        throw e;
      }
    }
  }

  @Override
  protected RawFile wrap(String name, RawFile file) {
    return new BuggyFile(file);
  }

  @Override
  public void syncDirectory() throws IOException {
    if (bug != Bug.SKIPS_DIRECTORY_SYNCS) {
      unless(Bug.IGNORES_FAILED_DIRECTORY_SYNCS, super::syncDirectory);
    }
  }

  private final class BuggyFile extends ForwardingFile {
    BuggyFile(RawFile file) {
      super(file);
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) throws IOException {
      unless(Bug.IGNORES_FAILED_WRITES, () -> super.write(buffers, position));
    }

    @Override
    public void sync() throws IOException {
      for (int tries = 1; ; tries++) {
        try {
          super.sync();
          return;
        } catch (IOException e) {
          if (bug != Bug.SYNCS_AGAIN || tries == TRIES) {
            throw e;
          }
        }
      }
    }
  }
}
