package dev.ashlar.metadata.consensus;

import dev.ashlar.transport.Endpoint;
import java.util.Optional;

/** Another peer leads, or none does: nothing was done here. */
public final class NotLeaderException extends Exception {
  private static final long serialVersionUID = 1;

  private final transient Optional<Endpoint> leader;

  NotLeaderException(Optional<Endpoint> leader) {
    super("not the leader; that is " + leader.map(Endpoint::toString).orElse("not known"));
    this.leader = leader;
  }

  /** Empty if it is not known here. */
  public Optional<Endpoint> leader() {
    return leader;
  }

  /** An expected answer: where it was met says nothing. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
