package dev.ashlar.it.start;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The form of the health page is a promise to scripts. */
@ExtendWith(SharedServer.class)
class HealthIT {
  @Test
  void saysWhatAnOperatorWantsAndNothingElse(ServerProcess server) {
    assertEquals(
        "{\"status\":\"UP\",\"reads\":\"ALL\",\"writes\":\"ALL\","
            + "\"drives\":{\"total\":6,\"open\":6,\"writable\":6,\"missing\":[],\"full\":[],\"readOnly\":[]},"
            + "\"metadata\":{\"total\":1,\"members\":1,\"rebuilding\":[],\"leftOut\":[]},"
            + "\"protection\":{\"known\":true,\"debtBlobs\":0,\"debtBytes\":0,"
            + "\"movingBlobs\":0,\"movingBytes\":0,\"levels\":[]},"
            + "\"risk\":{\"known\":true,\"allReadable\":true,\"atRiskBlobs\":0,"
            + "\"unreadableBlobs\":0,\"atRiskGroups\":0,\"unreadableGroups\":0,"
            + "\"uncountedDrives\":0}}",
        server.health());
  }
}
