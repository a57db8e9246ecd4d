package dev.ashlar.server.node;

import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.encryption.key.LocalKmsKeys;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.gateway.encryption.vault.VaultConfig;
import dev.ashlar.gateway.encryption.vault.VaultKeys;
import dev.ashlar.server.config.EncryptionOptions;
import dev.ashlar.server.config.MasterKeyFile;
import dev.ashlar.server.config.OwnMasterKey;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.ServerOptions;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What encrypts objects, as the options name it. */
final class ObjectKeys {
  private static final Logger LOG = LoggerFactory.getLogger(ObjectKeys.class);

  private ObjectKeys() {}

  /**
   * @param own encrypts objects if no file with master keys is named; null: nothing does then
   * @param opened what is to be closed behind the gateway
   */
  static Encryptions open(
      ServerOptions options, @Nullable OwnMasterKey own, MeterRegistry meters, CloseStack opened)
      throws IOException {
    MasterKeys masters = masters(options.encryption().masterKeyFile(), own);
    masters
        .fingerprints()
        .forEach((name, fingerprint) -> LOG.info("Master key {} is {}.", name, fingerprint));
    SecureRandom random = new SecureRandom();
    return new Encryptions(
        new KeyWrapping(masters, kms(options.encryption(), random, opened), random, meters),
        options.encryption().standard() == EncryptionOptions.Standard.AES256,
        options.service().listen().stream().anyMatch(PortAddress::isTls));
  }

  private static MasterKeys masters(@Nullable Path file, @Nullable OwnMasterKey own)
      throws IOException {
    if (file != null) {
      return new MasterKeys(MasterKeyFile.read(file));
    }
    return own == null ? MasterKeys.NONE : new MasterKeys(own.keys());
  }

  private static KmsKeys kms(EncryptionOptions options, SecureRandom random, CloseStack opened)
      throws IOException {
    VaultConfig vault = options.vault();
    if (vault != null) {
      return opened.add(new VaultKeys(vault, options.vaultAuthorities(), System::nanoTime));
    }
    Map<String, byte[]> keys = options.kmsKeys();
    return keys.isEmpty() ? KmsKeys.NONE : new LocalKmsKeys(keys, random);
  }
}
