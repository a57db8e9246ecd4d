package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** While some metadata peer is of an older build, what needs the new version is unavailable. */
class UnfinishedUpgradeTest {
  private static MemoryMetadata ofVersion(int version) {
    return MemoryMetadata.withDrives(version, new Profile(4, 2, Profile.DEFAULT_STRIPE_UNIT), 6, 8);
  }

  private static TestRequest enableVersions() {
    return TestS3.request("PUT", "/bkt?versioning")
        .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>");
  }

  private static TestRequest tag() {
    return TestS3.request("PUT", "/bkt?tagging")
        .body("<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void requestsWaitForTheNewVersion(int version) throws Exception {
    MemoryMetadata metadata = ofVersion(version);
    TestS3 s3 = new TestS3("us-east-1", any -> metadata);
    s3.ok(200, "PUT", "/bkt");
    s3.refused("ServiceUnavailable", enableVersions());
    s3.refused("ServiceUnavailable", tag());
    metadata.raiseVersion();
    s3.ok(200, enableVersions());
    s3.ok(204, tag());
  }

  private static TestRequest encryptByDefault() {
    return TestS3.request("PUT", "/bkt?encryption")
        .body(
            "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>"
                + "<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule>"
                + "</ServerSideEncryptionConfiguration>");
  }

  /** Each of them was accepted, by metadata that does not understand it. */
  private static List<TestRequest> encrypted() {
    return List.of(
        encryptByDefault(),
        TestKeys.withMaster(TestS3.request("PUT", "/bkt/k").body(new byte[0])),
        TestKeys.withMaster(TestS3.request("PUT", "/bkt/k").body("body")),
        TestKeys.withMaster(TestS3.request("PUT", "/bkt/k?append&position=0").body("body")),
        TestKeys.withMaster(TestS3.request("POST", "/bkt/k?uploads")));
  }

  @Test
  void nothingIsEncryptedBeforeTheNewVersion() throws Exception {
    MemoryMetadata metadata = ofVersion(MetadataVersion.ENCRYPTS - 1);
    TestS3 s3 = new TestS3("us-east-1", any -> metadata);
    s3.ok(200, "PUT", "/bkt");
    for (TestRequest request : encrypted()) {
      s3.refused("ServiceUnavailable", request);
    }
    s3.refused(
        "ServerSideEncryptionConfigurationNotFoundError", TestS3.request("GET", "/bkt?encryption"));
    s3.refused("NoSuchKey", "GET", "/bkt/k");
    assertTrue(metadata.uploads(new UploadsQuery("bkt", "", "", "", "", 1)).uploads().isEmpty());
    metadata.raiseVersion();
    s3.ok(200, encryptByDefault());
    s3.ok(200, "POST", "/bkt/k?uploads");
  }

  /** It would store plain bytes where the default of the bucket says otherwise. */
  @Test
  void aBucketEncryptsByDefaultOnlyWhenAllGatewaysDo() throws Exception {
    MemoryMetadata metadata = ofVersion(MetadataVersion.KNOWN);
    NodeRow.Builder old = NodeRow.newBuilder().setName("old").setHost("h").setGateway(true);
    Command.Builder registration =
        Command.newBuilder().setRegisterNode(RegisterNode.newBuilder().setNode(old));
    metadata.anotherClient().require(registration);
    TestS3 s3 = new TestS3("us-east-1", any -> metadata);
    s3.ok(200, "PUT", "/bkt");
    for (TestRequest request : encrypted()) {
      s3.refused("ServiceUnavailable", request);
    }
    registration.getRegisterNodeBuilder().getNodeBuilder().setKnowsEncryption(true);
    metadata.anotherClient().require(registration);
    s3.ok(200, encryptByDefault());
    registration.getRegisterNodeBuilder().getNodeBuilder().setKnowsEncryption(false);
    assertEquals(
        ResultCode.INVALID_COMMAND, metadata.anotherClient().submit(registration).getCode());
  }
}
