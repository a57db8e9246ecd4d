package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.LifecycleCounts;
import dev.ashlar.protocol.message.LifecycleScanRow;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.server.admin.LifecyclePage.ScanInfo;
import dev.ashlar.server.cluster.BalancedCluster;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class LifecyclePageTest {
  private final BalancedCluster cluster = new BalancedCluster(12, 1);

  LifecyclePageTest() throws Exception {
    for (String bucket : List.of("plain", "ruled", "strange")) {
      cluster.metadata.require(TestBlobs.createBucket(bucket));
    }
  }

  private void put(String bucket, int kind, ByteString document) {
    cluster.metadata.require(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket(bucket)
                    .setKind(kind)
                    .setDocument(document)));
  }

  private List<ScanInfo> page() throws Exception {
    return ((List<?>) Objects.requireNonNull(cluster.admin.view("lifecycle", "", "")))
        .stream().map(ScanInfo.class::cast).toList();
  }

  @Test
  void bucketsWithRulesAreShownWithTheirScans() throws Exception {
    assertEquals(List.of(), page());
    put("ruled", LifecycleDocuments.RULES, ByteString.copyFromUtf8("rules"));
    put("strange", LifecycleDocuments.RULES, ByteString.copyFromUtf8("rules"));
    put("strange", LifecycleDocuments.SCAN, ByteString.copyFromUtf8("no scan"));
    assertEquals(
        List.of("ruled waiting", "strange waiting"),
        page().stream().map(scan -> scan.bucket() + " " + scan.state()).toList());
    LifecycleScanRow.Builder scan =
        LifecycleScanRow.newBuilder()
            .setBucket(cluster.metadata.bucket("ruled").orElseThrow().getId())
            .setPhase(LifecycleScanRow.Phase.MOVING)
            .setKey("k")
            .setBeganMs(7)
            .setCounts(LifecycleCounts.newBuilder().setVersions(5).setExpired(2));
    put("ruled", LifecycleDocuments.SCAN, scan.build().toByteString());
    ScanInfo shown = page().getFirst();
    assertEquals("moving", shown.state());
    assertEquals("k", shown.key());
    assertEquals(5, shown.versions());
    assertEquals(2, shown.expired());
    put("ruled", LifecycleDocuments.SCAN, scan.setBucket(12345).build().toByteString());
    assertEquals("waiting", page().getFirst().state());
  }
}
