package dev.ashlar.gateway.operation;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.model.Profile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** While some metadata peer is of an older build, what needs the new version is unavailable. */
class UnfinishedUpgradeTest {
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
    MemoryMetadata metadata =
        MemoryMetadata.withDrives(version, new Profile(4, 2, Profile.DEFAULT_STRIPE_UNIT), 6, 8);
    TestS3 s3 = new TestS3("us-east-1", any -> metadata);
    s3.ok(200, "PUT", "/bkt");
    s3.refused("ServiceUnavailable", enableVersions());
    s3.refused("ServiceUnavailable", tag());
    metadata.raiseVersion();
    s3.ok(200, enableVersions());
    s3.ok(204, tag());
  }
}
