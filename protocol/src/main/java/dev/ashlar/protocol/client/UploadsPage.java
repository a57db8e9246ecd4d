package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.UploadRow;
import java.util.List;

/**
 * A page of uploads.
 *
 * @param truncated whether more uploads or prefixes follow
 */
public record UploadsPage(
    List<UploadRow> uploads, List<String> commonPrefixes, boolean truncated) {}
