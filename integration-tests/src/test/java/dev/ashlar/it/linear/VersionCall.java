package dev.ashlar.it.linear;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection.Answer;
import java.io.IOException;
import java.util.Map;

/** What may be asked of one key in a bucket with versioning. */
sealed interface VersionCall {
  /** Sends it and waits for the answer. */
  Answer send(ChangeClient client, String key) throws IOException;

  private static Answer send(ChangeClient client, String method, String key, String query)
      throws IOException {
    return client.send(method, key, query, new byte[0], Map.of());
  }

  /**
   * Makes a version.
   *
   * @param sha256 of the bytes
   */
  record Put(byte[] bytes, String sha256) implements VersionCall {
    static Put of(byte[] bytes) {
      return new Put(bytes, Content.sha256(bytes));
    }

    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return client.put(key, bytes);
    }

    @Override
    public String toString() {
      return "PUT " + bytes.length;
    }
  }

  /** The newest version. */
  record Get() implements VersionCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return VersionCall.send(client, "GET", key, "");
    }
  }

  /** Makes a delete marker. */
  record Delete() implements VersionCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return VersionCall.send(client, "DELETE", key, "");
    }
  }

  /** One version. */
  record GetVersion(String id) implements VersionCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return VersionCall.send(client, "GET", key, "versionId=" + id);
    }
  }

  /** Deletes one version, or a delete marker, for good. */
  record DeleteVersion(String id) implements VersionCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return VersionCall.send(client, "DELETE", key, "versionId=" + id);
    }
  }

  /** All versions and delete markers of the key, newest first. */
  record ListVersions() implements VersionCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return VersionCall.send(client, "GET", "", "prefix=" + key + "&versions=");
    }
  }
}
