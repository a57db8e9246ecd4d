package dev.ashlar.metadata.consensus.checkpoint;

/**
 * Requests a checkpoint when replaying the log since the last one would take noticeable time. Used
 * by the applying thread.
 */
public final class CheckpointPolicy {
  private final long commandsMax;
  private final long bytesMax;
  private final Runnable request;
  private long commands;
  private long bytes;

  public CheckpointPolicy(long commandsMax, long bytesMax, Runnable request) {
    this.commandsMax = commandsMax;
    this.bytesMax = bytesMax;
    this.request = request;
  }

  public void applied(int entryBytes, int entryCommands) {
    commands += entryCommands;
    bytes += entryBytes;
    if (commands >= commandsMax || bytes >= bytesMax) {
      takeNow();
    }
  }

  public void takeNow() {
    taken();
    request.run();
  }

  /** From any thread. */
  public void request() {
    request.run();
  }

  public void taken() {
    commands = 0;
    bytes = 0;
  }
}
