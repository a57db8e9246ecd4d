package dev.ashlar.gateway.encryption.vault;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where the keys are, and how they are reached.
 *
 * @param address as https://vault:8200
 * @param mount path of the transit engine, perhaps behind that of a namespace
 * @param tokenFile read for each call, so that it may be replaced
 * @param standardKey of requests that name none; null: there is none
 * @param timeout of a call as a whole
 */
public record VaultConfig(
    URI address, String mount, Path tokenFile, @Nullable String standardKey, Duration timeout) {}
