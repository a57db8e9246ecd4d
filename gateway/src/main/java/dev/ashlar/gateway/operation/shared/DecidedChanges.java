package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.access.AccessControl;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ResultCode;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Submits changes that metadata refuses if what they were decided on has changed, and then decides
 * again.
 */
public final class DecidedChanges {
  private static final int TRIES = 10;
  private static final int TURN_SECONDS = 10;

  private static final int TURNS = 64;

  private final AccessControl access;

  /**
   * Where changes of a resource were refused, by the hash of its name, they are submitted one at a
   * time. Otherwise many changes at once would refuse each other again and again.
   */
  private final List<Semaphore> turns =
      Stream.generate(() -> new Semaphore(1, true)).limit(TURNS).toList();

  /** A change and its condition. */
  public interface Submission {
    /**
     * @param permit that the change is decided on
     * @return CONDITIONAL_CONFLICT if that is outdated
     */
    CommandResult submit(Permit permit)
        throws S3Exception, MetadataUnavailableException, InterruptedException;
  }

  public DecidedChanges(AccessControl access) {
    this.access = access;
  }

  /**
   * Submits a change until it is not refused for a conflict.
   *
   * @param first the decision made so far
   * @return CONDITIONAL_CONFLICT after conflicts again and again
   */
  public CommandResult submit(Permit first, Caller caller, Need need, Submission change)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Semaphore turn = turns.get(Math.floorMod(need.resource().arn().hashCode(), TURNS));
    if (turn.availablePermits() > 0) {
      CommandResult result = change.submit(first);
      if (!isConflict(result)) {
        return result;
      }
    }
    boolean hasTurn = turn.tryAcquire(TURN_SECONDS, TimeUnit.SECONDS);
    try {
      CommandResult result = change.submit(access.require(caller, need));
      for (int tries = 1; isConflict(result) && tries < TRIES; tries++) {
        result = change.submit(access.require(caller, need));
      }
      return result;
    } finally {
      if (hasTurn) {
        turn.release();
      }
    }
  }

  private static boolean isConflict(CommandResult result) {
    return result.getCode() == ResultCode.CONDITIONAL_CONFLICT;
  }
}
