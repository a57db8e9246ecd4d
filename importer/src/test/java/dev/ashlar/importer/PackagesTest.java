package dev.ashlar.importer;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(
    packages = "dev.ashlar.importer",
    importOptions = ImportOption.DoNotIncludeTests.class)
class PackagesTest {
  @ArchTest
  static final ArchRule NO_CYCLES =
      slices().matching("dev.ashlar.importer.(**)").should().beFreeOfCycles();
}
