package dev.ashlar.metadata.consensus;

import dev.ashlar.transport.Endpoint;
import java.util.Optional;

/** Another peer leads, or none does: the request was not executed. */
public final class NotLeaderException extends Exception {
  private static final long serialVersionUID = 1;

  private final transient Optional<Endpoint> leader;

  NotLeaderException(Optional<Endpoint> leader) {
    super("not the leader; that is " + leader.map(Endpoint::toString).orElse("not known"));
    this.leader = leader;
  }

  /** Empty if this peer does not know the leader. */
  public Optional<Endpoint> leader() {
    return leader;
  }

  /** An expected answer: its stack trace is of no use. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
