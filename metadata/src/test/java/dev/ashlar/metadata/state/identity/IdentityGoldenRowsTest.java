package dev.ashlar.metadata.state.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.IdentityTag;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * One row of each kind in tables I and A, byte for byte: {@code golden/identities-v4.txt} has a
 * line per row, key and value in hexadecimal.
 */
class IdentityGoldenRowsTest {
  private final MemoryMetadata metadata =
      MemoryMetadata.ofVersion(
          MetadataVersion.IDENTITIES,
          Clock.fixed(Instant.ofEpochMilli(1_800_000_000_000L), ZoneOffset.UTC));

  private void write() {
    metadata.require(
        TestIdentities.putNew(TestIdentities.account(TestIdentities.ACCOUNT).setAlias("alias")));
    metadata.require(TestIdentities.putNew(TestIdentities.account("555566667777")));
    metadata.require(TestIdentities.deleteAccount("555566667777"));
    metadata.require(TestIdentities.putNew(TestIdentities.policy("P").setDescription("d")));
    metadata.require(TestIdentities.putNew(TestIdentities.group("G").addAttachedPolicies("ANPAP")));
    metadata.require(
        TestIdentities.putNew(
            TestIdentities.user("U")
                .setPath("/x/")
                .addGroups("AGPAG")
                .addBuiltInPolicies("ReadOnly")
                .addTags(IdentityTag.newBuilder().setKey("k").setValue("v"))
                .addDocuments(TestIdentities.document("inline"))));
    metadata.require(TestIdentities.putNew(TestIdentities.role("R")));
    metadata.require(
        TestIdentities.putNew(TestIdentities.provider("idp/x").addThumbprints("0a".repeat(20))));
    metadata.require(
        TestIdentities.put(
            TestIdentities.key("AKIA", "AIDAU").setInactive(true).setSealedBy("master")));
    metadata.require(TestIdentities.put(TestIdentities.key("root", "")));
  }

  @Test
  void rowsAreAsTheyAlwaysWere() throws Exception {
    write();
    HexFormat hex = HexFormat.of();
    List<String> lines =
        metadata.table().rows().entrySet().stream()
            .filter(row -> row.getKey()[0] == 'I' || row.getKey()[0] == 'A')
            .map(row -> hex.formatHex(row.getKey()) + "=" + hex.formatHex(row.getValue()))
            .toList();
    assertEquals(golden(), lines, () -> String.join("\n", lines));
  }

  private List<String> golden() throws Exception {
    try (InputStream file = getClass().getResourceAsStream("/golden/identities-v4.txt")) {
      if (file == null) {
        return List.of();
      }
      return new String(file.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
    }
  }
}
