package dev.ashlar.server.config;

import static dev.ashlar.server.config.OptionTypes.require;

import dev.ashlar.gateway.encryption.vault.VaultConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The keys that objects and secrets are encrypted with. */
public final class EncryptionOptions {
  private static final int TIMEOUT_SECONDS_MAX = 60;

  /** How objects are encrypted that neither their request nor their bucket says anything about. */
  public enum Standard {
    /** Not at all. */
    NONE,
    /** SSE-S3. */
    AES256
  }

  @Option(
      names = "--master-key-file",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description =
          "File with keys that encrypt the data keys of SSE-S3, and the secrets of access keys in"
              + " metadata: lines NAME=KEY, with 32 bytes in Base64. The first key encrypts, all of"
              + " them decrypt. The same file at every gateway.")
  private @Nullable Path masterKeyFile;

  @Option(
      names = "--default-encryption",
      paramLabel = "NAME",
      defaultValue = "none",
      description =
          "Encryption of new objects where neither the request nor the bucket says otherwise: none"
              + " or AES256 (SSE-S3). The same at every gateway.")
  private Standard standard = Standard.NONE;

  @Option(
      names = "--kms-keys",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description =
          "JSON file with keys of SSE-KMS: {\"keys\":[{\"id\":…, \"key\": 32 bytes in Base64}]}. The"
              + " first one is that of requests that name none. The same file at every gateway.")
  private @Nullable Path kmsKeys;

  @Option(
      names = "--kms-vault-address",
      paramLabel = "URL",
      showDefaultValue = Visibility.NEVER,
      description =
          "HashiCorp Vault or OpenBao whose transit engine has the keys of SSE-KMS, as"
              + " https://vault:8200.")
  private @Nullable URI vaultAddress;

  @Option(
      names = "--kms-vault-token-file",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description = "File with the token for Vault. It is read for each call.")
  private @Nullable Path vaultTokenFile;

  @Option(
      names = "--kms-vault-ca",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description = "Certificate authorities of Vault, in PEM. Default: those that Java trusts.")
  private @Nullable Path vaultAuthorities;

  @Option(
      names = "--kms-vault-mount",
      paramLabel = "PATH",
      defaultValue = "transit",
      description = "Path of the transit engine, behind that of its namespace if it has one.")
  private String vaultMount = "";

  @Option(
      names = "--kms-vault-key",
      paramLabel = "NAME",
      showDefaultValue = Visibility.NEVER,
      description = "Key of requests that name none. Default: such requests are refused.")
  private @Nullable String vaultKey;

  @Option(
      names = "--kms-vault-timeout",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = "Time that a call of Vault may take before a request is answered 503.")
  private int vaultTimeoutSeconds;

  private @Nullable MinioKmsKey keyOfMinio;

  void check() {
    URI address = vaultAddress;
    require(
        kmsKeys == null || address == null,
        "--kms-keys and --kms-vault-address exclude each other");
    require(
        address == null || TelemetryOptions.isPlain(address),
        "--kms-vault-address takes http://HOST:PORT or https://HOST:PORT");
    require(
        (address == null) == (vaultTokenFile == null),
        "--kms-vault-address and --kms-vault-token-file go together");
    require(
        vaultMount.matches("[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*"),
        "--kms-vault-mount takes a path, as transit, not '%s'",
        vaultMount);
    require(
        vaultTimeoutSeconds >= 1 && vaultTimeoutSeconds <= TIMEOUT_SECONDS_MAX,
        "--kms-vault-timeout takes 1 to %s, not %s",
        TIMEOUT_SECONDS_MAX,
        vaultTimeoutSeconds);
  }

  /**
   * Checks the keys of a process that encrypts. Others may have its variables in their environment.
   *
   * @throws IllegalArgumentException if a key is missing or wrong; the message names the option or
   *     variable, never the key
   */
  void checkKeys(Map<String, String> environment, boolean isSingleProcess) {
    require(
        standard == Standard.NONE || masterKeyFile != null || isSingleProcess,
        "--default-encryption AES256 needs a --master-key-file");
    keyOfMinio = kmsKeys == null && vaultAddress == null ? MinioKmsKey.in(environment) : null;
  }

  /**
   * File with master keys; null: secrets of access keys are stored as they are, and a store in one
   * process encrypts objects with a key that it makes.
   */
  public @Nullable Path masterKeyFile() {
    return masterKeyFile;
  }

  public Standard standard() {
    return standard;
  }

  /**
   * Keys of SSE-KMS by id, the one of requests that name none first; none: none is given.
   *
   * @throws IllegalArgumentException what is wrong with their file, without a key
   */
  public Map<String, byte[]> kmsKeys() throws IOException {
    if (kmsKeys != null) {
      return KmsKeyFile.read(kmsKeys);
    }
    return keyOfMinio == null ? Map.of() : Map.of(keyOfMinio.id(), keyOfMinio.key());
  }

  /** The id of the key that comes from MinIO's variable; null: none does. */
  @Nullable String kmsKeyOfMinio() {
    return keyOfMinio == null ? null : keyOfMinio.id();
  }

  /** Where Vault is; null: there is none. */
  public @Nullable VaultConfig vault() {
    return vaultAddress == null || vaultTokenFile == null
        ? null
        : new VaultConfig(
            vaultAddress,
            vaultMount,
            vaultTokenFile,
            vaultKey,
            Duration.ofSeconds(vaultTimeoutSeconds));
  }

  /** Authorities of Vault; null: those that Java trusts. */
  public @Nullable Path vaultAuthorities() {
    return vaultAuthorities;
  }
}
