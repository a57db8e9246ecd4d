package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.storage.drive.index.IndexException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How often an index is made anew. */
class IndexRecoveryLimitTest {
  private static final IndexException.Kind DAMAGED = IndexException.Kind.DAMAGED;

  private final AtomicLong nanos = new AtomicLong();
  private final IndexRecoveryLimit attempts = new IndexRecoveryLimit(nanos::get);

  private void pass(long periods) {
    nanos.addAndGet(periods * IndexRecoveryLimit.PERIOD.toNanos());
  }

  /** Else a large index that fails as soon as it serves would be made anew for ever. */
  @Test
  void durationOfARebuildDoesNotCount() {
    attempts.serves();
    for (int i = 0; i < IndexRecoveryLimit.MAX; i++) {
      assertTrue(attempts.mayTry(DAMAGED));
      pass(2);
      attempts.serves();
    }
    assertFalse(attempts.mayTry(DAMAGED));
  }

  @Test
  void indexThatNeverWorksIsTriedUpToTheLimit() {
    for (int i = 0; i < IndexRecoveryLimit.MAX; i++) {
      assertTrue(attempts.mayTry(DAMAGED));
      pass(2);
    }
    assertFalse(attempts.mayTry(DAMAGED));
  }

  @Test
  void indexThatWorkedForThePeriodMayFailAgain() {
    for (int i = 0; i < 2 * IndexRecoveryLimit.MAX; i++) {
      attempts.serves();
      pass(1);
      assertTrue(attempts.mayTry(DAMAGED));
    }
  }

  @Test
  void temporaryConditionsDoNotCount() {
    for (int i = 0; i < 2 * IndexRecoveryLimit.MAX; i++) {
      assertTrue(attempts.mayTry(IndexException.Kind.NO_SPACE));
    }
    assertTrue(attempts.mayTry(DAMAGED));
  }
}
