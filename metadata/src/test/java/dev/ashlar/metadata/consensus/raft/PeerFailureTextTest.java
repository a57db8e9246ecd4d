package dev.ashlar.metadata.consensus.raft;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.table.TableFailureException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class PeerFailureTextTest {
  private static String account(boolean isOnly) {
    Throwable failure = new TableFailureException("no block", new IOException("checksum"));
    return PeerFailureText.account(4711, "/m1", isOnly, failure);
  }

  @Test
  void theOnlyFolderIsNotToBeEmptied() {
    String account = account(true);
    assertTrue(account.contains("log entry 4711 cannot be applied in /m1"), account);
    assertTrue(account.contains("Do not empty it"), account);
    assertFalse(account.contains("other peers"), account);
  }

  @Test
  void oneOfSeveralIsOnlyIfTheOthersAreWhole() {
    String account = account(false);
    assertTrue(account.contains("Only if a majority of them is, empty the folder"), account);
  }
}
