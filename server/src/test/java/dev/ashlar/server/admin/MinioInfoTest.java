package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.server.cluster.BalancedCluster;
import dev.ashlar.server.cluster.DriveUse;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class MinioInfoTest {
  private static final UUID CLUSTER = new UUID(1, 2);

  private static JsonNode info(BalancedCluster cluster) throws Exception {
    MinioInfo info = new MinioInfo(cluster.admin, CLUSTER, "eu-1", "0.0.0.0:9000");
    return new ObjectMapper().readTree(info.json());
  }

  @Test
  void aClusterIsShownByItsNodesAndDrives() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    cluster.metadata.require(TestBlobs.createBucket("b"));
    BlobId id = new BlobId(cluster.metadata.session(), 1);
    cluster.metadata.require(
        TestBlobs.put("b", "k", TestBlobs.acknowledged(cluster.metadata, id, 10)));
    JsonNode info = info(cluster);
    assertEquals("online", info.at("/mode").asText());
    assertEquals("eu-1", info.at("/region").asText());
    assertEquals(CLUSTER.toString(), info.at("/deploymentID").asText());
    assertEquals(1, info.at("/buckets/count").asInt());
    assertEquals(1, info.at("/objects/count").asInt());
    assertEquals(10, info.at("/usage/size").asInt());
    assertEquals("Erasure", info.at("/backend/backendType").asText());
    assertEquals(16, info.at("/backend/onlineDisks").asInt());
    assertEquals(0, info.at("/backend/offlineDisks").asInt());
    assertEquals(2, info.at("/backend/standardSCParity").asInt());
    assertEquals("[3]", info.at("/backend/totalSets").toString());
    assertEquals("[6]", info.at("/backend/totalDrivesPerSet").toString());
    assertEquals(8, info.at("/servers").size());
    for (JsonNode server : info.at("/servers")) {
      assertEquals("online", server.at("/state").asText());
      assertEquals(2, server.at("/drives").size());
      assertEquals("ok", server.at("/drives/0/state").asText());
      assertTrue(server.at("/drives/0/set_index").asInt() < 3);
      assertTrue(server.at("/drives/0/disk_index").asInt() < 6);
    }
  }

  @Test
  void whatIsDownOrHasFailedIsOffline() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.failed.add(BalancedCluster.drive("node-2", 0));
    cluster.fallSilent("node-5");
    cluster.pass(Duration.ofSeconds(20));
    JsonNode info = info(cluster);
    assertEquals(6, info.at("/backend/onlineDisks").asInt());
    assertEquals(2, info.at("/backend/offlineDisks").asInt());
    int offline = 0;
    for (JsonNode server : info.at("/servers")) {
      offline += server.at("/state").asText().equals("offline") ? 1 : 0;
    }
    assertEquals(1, offline, "the node of the failed drive is there");
  }

  @Test
  void drivesThatWereTakenAwayAreNotShown() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.stand("node-3", DriveStanding.STANDING_DRAINING);
    assertEquals(8, info(cluster).at("/backend/onlineDisks").asInt(), "it has data still");
    cluster.settle();
    assertEquals(7, info(cluster).at("/backend/onlineDisks").asInt());
  }

  @Test
  void drivesTellTheirSpaceIfTheyHave() throws Exception {
    BalancedCluster cluster = new BalancedCluster(6, 1);
    UUID drive = BalancedCluster.drive("node-1", 0);
    cluster.uses.put(drive, new DriveUse(3 << 20, 5 << 20, 1 << 20));
    cluster.join("node-1");
    int told = 0;
    for (JsonNode server : info(cluster).at("/servers")) {
      JsonNode shown = server.at("/drives/0");
      assertEquals(shown.at("/uuid").asText().equals("" + drive), shown.has("totalspace"));
      if (shown.has("totalspace")) {
        told++;
        assertEquals(8 << 20, shown.at("/totalspace").asLong());
        assertEquals(3 << 20, shown.at("/usedspace").asLong());
        assertEquals(5 << 20, shown.at("/availspace").asLong());
      }
    }
    assertEquals(1, told);
    assertFalse(info(cluster).has("pools"));
  }
}
