package store

const childVariable = "SEGUE_STORE_CHILD"

func runChild(string) {}
